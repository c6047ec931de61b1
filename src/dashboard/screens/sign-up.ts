/** Signing up, and forgotten passwords: both ask for an address and mail a link to it. */
import { readAddress } from "#accounts/people.ts";
import { requestLink } from "#accounts/sign-up.ts";
import { canMail, linkOf, mail, mailedPage, noMailPage } from "#dashboard/components/mailed.ts";
import { accountPage, emailField, faultNote, wordReply } from "#dashboard/components/page.ts";
import { knownMail, resetMail, signUpMail } from "#dashboard/mail-templates.ts";
import { type AccountRequest, formRoute, page, type Reply, type Route } from "#dashboard/screen.ts";
import { html, type Html } from "#pages/html.ts";
import { typedAddress, whomToAsk } from "./sign-in.ts";

export const signUpRoutes: readonly Route[] = [
  formRoute("/account/sign-up", "anyone", {
    obstacle: noSignUp,
    page: (request, fault) => asking(request, signUpWords, fault),
    act: (request) => mailLink("sign-up", request),
  }),
  formRoute("/account/forgot", "anyone", {
    obstacle: (request) =>
      canMail(request) ? null : page(noMailPage("Choose a new password"), 403),
    page: (request, fault) => asking(request, forgotWords, fault),
    act: (request) => mailLink("reset", request),
  }),
];

/** Returns a page that says why nobody can sign up by themselves here, or null if they can. */
function noSignUp(request: AccountRequest): Reply | null {
  const { signUp } = request.services.settings;
  if (signUp !== "open") {
    const text = `Nobody signs up here without an invitation. Ask ${whomToAsk(signUp)} for one.`;
    const next = { href: "/account/sign-in", label: "Sign in" };
    return wordReply(null, 403, "Sign up by invitation", text, next);
  }
  return canMail(request) ? null : page(noMailPage("Sign up"), 403);
}

/**
 * Mails a link. The page shows the address as typed and is the same for everybody: only the mail reveals whether the address is
 * known.
 */
async function mailLink(kind: "sign-up" | "reset", request: AccountRequest): Promise<string> {
  const { services, form, client, now } = request;
  const address = form.get("email") ?? "";
  const made = await requestLink(services.control, kind, { address, client, now });
  const link = linkOf(request, made);
  const signUp = made.isKnown ? knownMail(link) : signUpMail(link);
  const message = kind === "sign-up" ? signUp : made.isKnown ? resetMail(link) : null;
  const demoLink = message === null ? null : mail(request, message, link.url);
  return mailedPage(null, readAddress(address).email, demoLink);
}

const signUpWords = {
  title: "Sign up",
  explained: html`We mail you a link. Open it, choose a password, and your account is ready.`,
  after: html`<p>Signed up already? <a href="/account/sign-in">Sign in</a></p>`,
};

const forgotWords = {
  title: "Choose a new password",
  explained: html`We mail a link to the address you sign in with. The new password signs you out in
  every other browser.`,
  after: html`<p><a href="/account/sign-in">Back to signing in</a></p>`,
};

const asking = (
  request: AccountRequest,
  { title, explained, after }: { title: string; explained: Html; after: Html },
  fault: string | undefined,
): string =>
  accountPage(null, {
    title,
    main: html`<h1>${title}</h1>
      <p>${explained}</p>
      ${faultNote(fault)}
      <form class="form" method="post" action="${request.path}">
        ${emailField(typedAddress(request))}
        <button>Mail me a link</button>
      </form>
      ${after}`,
  });
