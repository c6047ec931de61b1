/** Links on their way to somebody: by mail, and in a demo on the page itself. */
import { type MadeLink, linkUrl } from "#accounts/links.ts";
import type { Letter } from "./mail/post.ts";
import type { Visit } from "./visit.ts";

/** Would a link reach anybody? */
export const canMail = ({ rooms: { settings, post } }: Visit): boolean =>
  settings.isDemo || !post.isOff;

/** Where a letter is to go, and what leads to the page of its link. */
export const linkOf = ({ own }: Visit, { email, token, expiresAt }: MadeLink) => ({
  to: email,
  url: linkUrl(own.base, token),
  expiresAt,
});

/** Sends the letter. @returns the link for the page to show, in a demo alone. */
export function mail(
  { rooms: { settings, post } }: Visit,
  letter: Letter,
  url: string,
): string | null {
  post.send(letter);
  return settings.isDemo ? url : null;
}
