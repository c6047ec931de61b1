/** What beginning and ending a session does to the browser: its cookies. */
import { endSession } from "#accounts/sessions.ts";
import type { SignedIn } from "#accounts/signed-in.ts";
import { StoreFault } from "#store/store-fault.ts";
import { endCookie, setCookie } from "./cookies.ts";
import { type Reply, seeOther, withCookies } from "./reply.ts";
import type { Visit } from "./visit.ts";

/** Both cookies, always with new values; whatever session the browser came with is over. */
export async function begin(visit: Visit, signedIn: SignedIn, path: string): Promise<Reply> {
  await endFormer(visit);
  return withCookies(seeOther(path), [
    setCookie("session", signedIn.sessionToken, visit.own.isSecure),
    setCookie("browser", signedIn.browserToken, visit.own.isSecure),
  ]);
}

/** The browser stays known: signing in again is no guess of a stranger. */
export const signedOut = ({ own }: Visit, path: string): Reply =>
  withCookies(seeOther(path), [endCookie("session", own.isSecure)]);

async function endFormer({ visitor, rooms, now }: Visit): Promise<void> {
  if (visitor === null) return;
  const { person, session } = visitor;
  try {
    await endSession(rooms.control, { person: person.id, id: session.id, now });
  } catch (fault) {
    // A new password has ended it already.
    if (!(fault instanceof StoreFault && fault.kind === "not_found")) throw fault;
  }
}
