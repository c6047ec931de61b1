/** The two cookies of the account pages (RFC 6265bis): the session, and a browser somebody has signed in with before. */
import { endSession, type OpenedSession } from "#accounts/sessions.ts";
import { DomainError } from "#store/domain-error.ts";
import { type AccountRequest, type Reply, seeOther, withHeader } from "./screen.ts";

type CookieName = "session" | "browser";

const browserSeconds = 180 * 86_400;

/**
 * Returns the name of a cookie. `__Host-` binds it to this host, and browsers take it only over https; plain http is for this
 * machine alone.
 * @param isSecure is the page reached over https?
 */
const nameOf = (name: CookieName, isSecure: boolean) => `${isSecure ? "__Host-" : ""}gp_${name}`;

/** Returns the value of a cookie, or null if it is absent or sent twice: then somebody else may have set one. */
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

/** Returns the header that sets a cookie. That of the session lasts until the browser is closed, the other half a year. */
export const setCookie = (name: CookieName, value: string, isSecure: boolean): string =>
  cookie(name, value, isSecure, name === "browser" ? browserSeconds : null);

export const endCookie = (name: CookieName, isSecure: boolean): string =>
  cookie(name, "", isSecure, 0);

const cookie = (name: CookieName, value: string, isSecure: boolean, maxAge: number | null) =>
  `${nameOf(name, isSecure)}=${value}; Path=/; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}${maxAge === null ? "" : `; Max-Age=${maxAge}`}`;

/** Sets both cookies, always with new values; whatever session the browser came with is ended. */
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

/** Ends the session cookie. The browser stays known, so that signing in again does not count as a stranger's guess. */
export const signedOut = ({ own }: AccountRequest, path: string): Reply =>
  withHeader(seeOther(path), "set-cookie", endCookie("session", own.isSecure));

async function endFormer({ signedIn, services, now }: AccountRequest): Promise<void> {
  if (signedIn === null) return;
  const { person, session } = signedIn;
  try {
    await endSession(services.control, { person: person.id, id: session, now });
  } catch (fault) {
    // A change of password has ended it already.
    if (!(fault instanceof DomainError && fault.kind === "not_found")) throw fault;
  }
}
