/** Sending links by mail, and what the page then says: the same for every address. A demo shows the link itself. */
import { linkUrl, type MadeLink } from "#accounts/one-time-links.ts";
import type { Mail } from "#dashboard/mail-templates.ts";
import type { AccountRequest } from "#dashboard/screen.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { accountPage } from "./page.ts";

/** Returns the page after a mail. @param demoLink only in a demo, which sends no mail. */
export const mailedPage = (
  request: AccountRequest | null,
  email: string,
  demoLink: string | null,
): string =>
  demoLink === null
    ? accountPage(request, {
        title: "Look into your mail",
        main: html`<h1>Look into your mail</h1>
          <p>
            A message to <strong class="name">${email}</strong> is on its way. Its link works once.
          </p>
          <p class="muted">
            If nothing comes within a few minutes, look among unwanted mail, and whether the address
            is written as it should be.
          </p>`,
      })
    : accountPage(request, {
        title: "One more step",
        main: html`<h1>One more step</h1>
          <p>
            Outside the demo this link would be mailed to <strong class="name">${email}</strong>.
            The demo sends no mail, so here it is. It works once.
          </p>
          <p><a class="button" href="${demoLink}">Open the link</a></p>`,
      });

/** Returns the note with a link that a demo does not mail. @param link null outside a demo. */
export const demoNote = (link: string | null): Part =>
  link !== null &&
  html`<div class="card">
    <p>
      This demo sends no mail. The message would hold
      <a href="${link}">this link</a>.
    </p>
  </div>`;

/** Returns a page instead of a form whose link could not be mailed. @param title title of the page with the form. */
export const noMailPage = (title: string, request: AccountRequest | null = null): string =>
  accountPage(request, {
    title,
    main: html`<h1>${title}</h1>
      ${noMailNote}`,
  });

export const noMailNote: Html = html`<p>
  No mail leaves this service. Ask its operator for a link: a command makes it.
</p>`;

/** Reports whether a link can reach its recipient. */
export const canMail = ({ services: { settings, mailer } }: AccountRequest): boolean =>
  settings.isDemo || !mailer.isOff;

/** Returns the recipient, URL and expiry of a link, as the mail templates take them. */
export const linkOf = ({ services }: AccountRequest, { email, token, expiresAt }: MadeLink) => ({
  to: email,
  url: linkUrl(services.settings.linkBase, token),
  expiresAt,
});

/** Sends the message. @returns in a demo the link for the page to show, else null. */
export function mail(
  { services: { settings, mailer }, own }: AccountRequest,
  message: Mail,
  url: string,
): string | null {
  mailer.send(message);
  // The browser may have come through a tunnel: the link on the page has to lead to the same end of it.
  return settings.isDemo ? own.base + url.slice(settings.linkBase.length) : null;
}
