/** Links on their way to somebody: by mail, and in a demo on the page itself. */
import { type MadeLink, linkUrl } from "#accounts/links.ts";
import type { Letter } from "./mail/letters.ts";
import type { Visit } from "./visit.ts";

/** Would a link reach anybody? */
export const canMail = ({ rooms: { settings, post } }: Visit): boolean =>
  settings.isDemo || !post.isOff;

/** Where a letter is to go, and what leads to the page of its link. */
export const linkOf = ({ rooms }: Visit, { email, token, expiresAt }: MadeLink) => ({
  to: email,
  url: linkUrl(rooms.settings.linkBase, token),
  expiresAt,
});

/** Sends the letter. @returns the link for the page to show, in a demo alone. */
export function mail(
  { rooms: { settings, post }, own }: Visit,
  letter: Letter,
  url: string,
): string | null {
  post.send(letter);
  // Whoever looks at the page may have come through a tunnel, whose other end the link has to lead to.
  return settings.isDemo ? own.base + url.slice(settings.linkBase.length) : null;
}
