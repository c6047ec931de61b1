/** The page that stands in for records while the account has used up its quota. */
import { html, type Html } from "#pages/html.ts";
import { accountPage, type Frame } from "./frame.ts";
import { exactTime } from "./relative.ts";

interface OverQuota {
  frame: Frame | null;
  /** What is used up and how long to wait, as the API says it. */
  detail: string;
  /** When a request is free again, RFC 3339 in UTC. */
  freeAt: string;
}

export const overQuotaPage = ({ frame, detail, freeAt }: OverQuota): string =>
  accountPage({
    title: "Quota used up",
    frame,
    main: html`<h1>The quota is used up until ${clock(freeAt)}</h1>
      <p>${detail}</p>
      <p>
        Pages that show records count as one request each, like a call of the API, and share its
        quota.
      </p>
      <p><a class="button" href="/account/usage">See what used it</a></p>`,
  });

const clock = (time: string): Html =>
  html`<time datetime="${time}" title="${exactTime(time)}">${time.slice(11, 19)} UTC</time>`;
