/** What happened in an account lately, out of the audit log and in names that people know. */
import { listAudit, type AuditEntry } from "#accounts/list-audit.ts";
import { listMembers } from "#accounts/members.ts";
import { listSessions } from "#accounts/sessions.ts";
import type { ListedKey } from "#keys/keys.ts";
import { type Happening, happeningWords } from "#pages/account/notices.ts";
import { operator, service } from "#store/audit.ts";
import type { AccountVisit } from "./visit.ts";

const backMilliseconds = 30 * 86_400_000;
const entriesRead = 300;
const shownMax = 50;

/** Newest first. Of sign-ins only one's own. */
export async function readHappenings(
  visit: AccountVisit,
  keys: readonly ListedKey[],
): Promise<Happening[]> {
  const { rooms, account, visitor, now } = visit;
  const { database } = rooms.control;
  const since = now - backMilliseconds;
  const person = visitor.person.id;
  const ofAccount = await listAudit(database, {
    account: account.number,
    since,
    limit: entriesRead,
  });
  const signIns = { actor: person, action: "person.signed_in", since, limit: shownMax } as const;
  const entries = [
    ...ofAccount.filter(({ action }) => Object.hasOwn(happeningWords, action)),
    ...(await listAudit(database, signIns)),
  ].toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at));
  const sessions = await listSessions(database, person, now);
  const browsers = new Map(
    sessions.map(({ id, browser, network }) => [id, `${browser}, ${network}`]),
  );
  const nameOf = namesOf(person, await listMembers(database, account.number));
  const keyOf = keysById(keys);
  return entries.slice(0, shownMax).map((entry) => ({
    at: entry.at,
    action: entry.action,
    key: keyOf(entry),
    detail: browsers.get(entry.subject ?? "") ?? null,
    by: nameOf(entry.actor),
  }));
}

const keysById = (keys: readonly ListedKey[]) => {
  const byId = new Map(keys.map((key) => [key.id, key]));
  return ({ subject }: AuditEntry) => byId.get(subject ?? "") ?? null;
};

function namesOf(person: string, members: readonly { person: string; email: string }[]) {
  const names = new Map([
    ...members.map((member) => [member.person, member.email] as const),
    [person, "you"] as const,
    [operator, "the operator"] as const,
    [service, "the service"] as const,
  ]);
  return (actor: string): string => names.get(actor) ?? "a former member";
}
