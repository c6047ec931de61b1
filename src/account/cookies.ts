/** The two cookies of the account pages: who is signed in, and which browser has been here before (RFC 6265bis). */
import { endSession } from "#accounts/sessions.ts";
import type { SignedIn } from "#accounts/signed-in.ts";
import { DomainError } from "#store/domain-error.ts";
import { type Reply, seeOther, withCookies } from "./reply.ts";
import type { AccountRequest } from "./request.ts";

/** A session, and a browser that is known to somebody. */
const cookieNames = ["session", "browser"] as const;
type CookieName = (typeof cookieNames)[number];

const browserSeconds = 180 * 86_400;

/**
 * `__Host-` binds a cookie to this host, and browsers take it only over https; plain http is for this machine alone.
 * @param isSecure is the page reached over https?
 */
const nameOf = (name: CookieName, isSecure: boolean) => `${isSecure ? "__Host-" : ""}gp_${name}`;

/** The value of a cookie, or null where it is absent or stands twice: then somebody else may have set one. */
export function readCookie(
  header: string | undefined,
  name: CookieName,
  isSecure: boolean,
): string | null {
  const prefix = `${nameOf(name, isSecure)}=`;
  const found = (header ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix));
  return found.length === 1 ? found[0]!.slice(prefix.length) : null;
}

/** The session's ends with the browser, whatever the server says of it. */
export function setCookie(name: CookieName, value: string, isSecure: boolean): string {
  const life = name === "browser" ? `; Max-Age=${browserSeconds}` : "";
  return `${nameOf(name, isSecure)}=${value}; Path=/; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}${life}`;
}

export const endCookie = (name: CookieName, isSecure: boolean): string =>
  `${nameOf(name, isSecure)}=; Path=/; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}; Max-Age=0`;

/** Both cookies, always with new values; whatever session the browser came with is over. */
export async function begin(
  request: AccountRequest,
  signedIn: SignedIn,
  path: string,
): Promise<Reply> {
  await endFormer(request);
  return withCookies(seeOther(path), [
    setCookie("session", signedIn.sessionToken, request.own.isSecure),
    setCookie("browser", signedIn.browserToken, request.own.isSecure),
  ]);
}

/** The browser stays known: signing in again is no guess of a stranger. */
export const signedOut = ({ own }: AccountRequest, path: string): Reply =>
  withCookies(seeOther(path), [endCookie("session", own.isSecure)]);

async function endFormer({ signedIn, services, now }: AccountRequest): Promise<void> {
  if (signedIn === null) return;
  const { person, session } = signedIn;
  try {
    await endSession(services.control, { person: person.id, id: session.id, now });
  } catch (fault) {
    // A new password has ended it already.
    if (!(fault instanceof DomainError && fault.kind === "not_found")) throw fault;
  }
}
