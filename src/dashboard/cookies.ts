/** The account pages' two cookies (RFC 6265bis): the session, and the mark of a browser that has signed in before. */
import { knownBrowserDays } from "#accounts/kept-days.ts";
import { endSession, type OpenedSession } from "#accounts/sessions.ts";
import { DomainError } from "#store/store-fault.ts";
import { type AccountRequest, type Reply, seeOther, withHeader } from "./screen.ts";

type CookieName = "session" | "browser";

/**
 * Returns a cookie's name. `__Host-` binds the cookie to this host, and browsers accept it only over https. Plain http
 * is for loopback hosts only.
 * @param isSecure true if the page is reached over https.
 */
const nameOf = (name: CookieName, isSecure: boolean) => `${isSecure ? "__Host-" : ""}gp_${name}`;

/** Returns a cookie's value. Returns null if it is absent, or sent twice: somebody else may have set one of the two. */
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

/**
 * Returns a `set-cookie` value. By default, the session cookie lasts until the browser is closed, and the browser
 * cookie for `knownBrowserDays`. @param maxAge seconds; 0 to end the cookie.
 */
export const setCookie = (
  name: CookieName,
  value: string,
  isSecure: boolean,
  maxAge = name === "browser" ? knownBrowserDays * 86_400 : null,
): string =>
  `${nameOf(name, isSecure)}=${value}; Path=/; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}${maxAge === null ? "" : `; Max-Age=${maxAge}`}`;

/** Returns a redirect to `path` that sets the cookies of a new session. Ends the browser's former session. */
export async function begin(
  request: AccountRequest,
  signedIn: OpenedSession,
  path: string,
): Promise<Reply> {
  await endFormer(request);
  const { isSecure } = request.own;
  const session = setCookie("session", signedIn.sessionToken, isSecure);
  const browser = setCookie("browser", signedIn.browserToken, isSecure);
  return withHeader(withHeader(seeOther(path), "set-cookie", session), "set-cookie", browser);
}

/** Returns a redirect that deletes the session cookie, but not the browser cookie, so that the browser stays known. */
export const signedOut = ({ own }: AccountRequest, path: string): Reply =>
  withHeader(seeOther(path), "set-cookie", setCookie("session", "", own.isSecure, 0));

/** Ends the browser's session, if it has one. A session that has ended meanwhile is no error. */
export async function endFormer({ signedIn, services, now }: AccountRequest): Promise<void> {
  if (signedIn === null) return;
  const { person, session } = signedIn;
  try {
    await endSession(services.control, { person: person.id, id: session, now });
  } catch (fault) {
    // For instance, a password change has ended it already.
    if (!(fault instanceof DomainError && fault.kind === "not_found")) throw fault;
  }
}
