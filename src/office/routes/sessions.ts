/** The browsers somebody is signed in with: listed, ended, and which account one looks at. */
import { endAllSessions, endSession, listSessions, switchAccount } from "#accounts/sessions.ts";
import { framed } from "#office/frame.ts";
import { page, type Reply, seeOther } from "#office/reply.ts";
import { type Route, route } from "#office/route.ts";
import { signedOut } from "#office/sessions.ts";
import type { SignedInVisit, Visit } from "#office/visit.ts";
import { sessionsPage } from "#pages/account/sessions.ts";

async function show(visit: SignedInVisit): Promise<Reply> {
  const { rooms, visitor, query, now } = visit;
  const listed = await listSessions(rooms.control.database, visitor.person.id, now);
  const sessions = listed.map((one) => ({ ...one, isOwn: one.id === visitor.session.id }));
  return page(sessionsPage({ frame: framed(visit), sessions, done: query.get("done"), now }));
}

async function end(visit: SignedInVisit): Promise<Reply> {
  const { rooms, visitor, form, now } = visit;
  const { session, person } = visitor;
  const id = form.get("session") ?? "";
  await endSession(rooms.control, { person: person.id, id, own: session.id, now });
  return id === session.id
    ? signedOut(visit, "/account/sign-in?done=out")
    : seeOther("/account/sessions?done=ended");
}

/** Also for whoever is signed out already, such as in a second tab. */
async function signOut(visit: Visit): Promise<Reply> {
  const { rooms, visitor, now } = visit;
  if (visitor !== null)
    await endSession(rooms.control, { person: visitor.person.id, id: visitor.session.id, now });
  return signedOut(visit, "/account/sign-in?done=out");
}

async function signOutEverywhere(visit: SignedInVisit): Promise<Reply> {
  const { rooms, visitor, now } = visit;
  await endAllSessions(rooms.control, { person: visitor.person.id, now });
  return signedOut(visit, "/account/sign-in?done=everywhere");
}

async function look({ rooms, visitor, form }: SignedInVisit): Promise<Reply> {
  const accountId = form.get("account") ?? "";
  const { person, session } = visitor;
  await switchAccount(rooms.control, { person: person.id, session: session.id, accountId });
  return seeOther("/account/keys");
}

export const sessionRoutes: readonly Route[] = [
  route("/account/sessions", "person", { GET: show, POST: end }),
  route("/account/sign-out", "anyone", { POST: signOut }),
  route("/account/sign-out-everywhere", "person", { POST: signOutEverywhere }),
  route("/account/switch", "person", { POST: look }),
];
