/** Sessions of signed-in people: found by the token of a cookie, and ended by time or by request. */
import type { Kysely, Selectable, Transaction } from "kysely";
import { writeAudit } from "#store/audit.ts";
import type { ControlTables, SessionTable } from "#store/control-tables.ts";
import { DomainError } from "#store/domain-error.ts";
import { dayMilliseconds, hourMilliseconds, minuteMilliseconds } from "#store/durations.ts";
import { digestToken } from "#store/random-text.ts";
import type { ControlStore } from "#store/stores.ts";
import { listMemberships, type Membership } from "./membership.ts";
import { findPersonById, type Person } from "./people.ts";

export const sessionMilliseconds = 7 * dayMilliseconds;
export const idleMilliseconds = 12 * hourMilliseconds;
const seenMilliseconds = minuteMilliseconds;

/** The sender of a request, and what they may look at. */
export interface SignedIn {
  /** `endsAt` is when it ends at the latest. */
  session: { id: string; createdAt: string; endsAt: string };
  person: Person;
  /** Oldest membership first. */
  accounts: Membership[];
  /** The account that is looked at; null for a person without one. */
  account: Membership | null;
}

/** Undefined where nobody is signed in with this token. Writes at most once a minute, when the session was last seen. */
export async function findSession(
  control: ControlStore,
  token: string,
  now: number,
): Promise<SignedIn | undefined> {
  const { database } = control;
  const row = await database
    .selectFrom("session")
    .selectAll()
    .where("digest", "=", digestToken(token))
    .executeTakeFirst();
  if (row === undefined || hasEnded(row, now)) return undefined;
  const person = await findPersonById(database, row.person);
  if (person === undefined) return undefined;
  if (now - Date.parse(row.seen_at) >= seenMilliseconds) await markSeen(control, row.id, now);
  const accounts = await listMemberships(database, person.id);
  const account = accounts.find(({ number }) => number === row.account) ?? accounts[0] ?? null;
  const session = { id: row.id, createdAt: row.created_at, endsAt: row.ends_at };
  return { session, person, accounts, account };
}

interface ListedSession {
  id: string;
  createdAt: string;
  /** To the minute. */
  seenAt: string;
  endsAt: string;
  network: string;
  browser: string;
}

/** Those of a person that have not ended, the last seen first. */
export async function listSessions(
  database: Kysely<ControlTables>,
  person: string,
  now: number,
): Promise<ListedSession[]> {
  const rows = await database
    .selectFrom("session")
    .selectAll()
    .where("person", "=", person)
    .orderBy("seen_at", "desc")
    .orderBy("id")
    .execute();
  return rows
    .filter((row) => !hasEnded(row, now))
    .map(({ id, created_at, seen_at, ends_at, network, browser }) => ({
      id,
      createdAt: created_at,
      seenAt: seen_at,
      endsAt: ends_at,
      network,
      browser,
    }));
}

/**
 * Signs a browser of the person out.
 * @param own the session it is asked from, so that the audit log tells signing out from ending another.
 * @throws DomainError `not_found` also for a session of somebody else.
 */
export async function endSession(
  control: ControlStore,
  { person, id, own = id, now }: { person: string; id: string; own?: string; now: number },
): Promise<void> {
  await control.write(async (transaction) => {
    const query = transaction.deleteFrom("session").where("id", "=", id);
    const { numDeletedRows } = await query.where("person", "=", person).executeTakeFirst();
    if (numDeletedRows === 0n)
      throw new DomainError("not_found", "This session has ended already.");
    const action = id === own ? "person.signed_out" : "person.session_ended";
    await writeAudit(transaction, { actor: person, action, subject: id, now });
  });
}

/** @returns how many there were. */
export function endAllSessions(
  control: ControlStore,
  { person, exceptId, now }: { person: string; exceptId?: string; now: number },
): Promise<number> {
  return control.write(async (transaction) => {
    const ended = await deleteSessions(transaction, person, exceptId);
    for (const id of ended)
      await writeAudit(transaction, {
        actor: person,
        action: "person.session_ended",
        subject: id,
        now,
      });
    return ended.length;
  });
}

/** Part of a transaction. @returns their ids. */
export async function deleteSessions(
  transaction: Transaction<ControlTables>,
  person: string,
  exceptId = "",
): Promise<string[]> {
  const query = transaction.deleteFrom("session").where("person", "=", person);
  const rows = await query.where("id", "!=", exceptId).returning("id").execute();
  return rows.map(({ id }) => id);
}

/** @throws DomainError `not_found` for an account the person is no member of. */
export async function switchAccount(
  control: ControlStore,
  { person, session, accountId }: { person: string; session: string; accountId: string },
): Promise<void> {
  await control.write(async (transaction) => {
    const memberships = await listMemberships(transaction, person);
    const chosen = memberships.find(({ id }) => id === accountId);
    if (chosen === undefined)
      throw new DomainError("not_found", "You are not a member of such an account.");
    const query = transaction.updateTable("session").set({ account: chosen.number });
    await query.where("id", "=", session).where("person", "=", person).execute();
  });
}

/** A request continues where this cannot be written; the next one tries again. */
async function markSeen(control: ControlStore, id: string, now: number): Promise<void> {
  const seen_at = new Date(now).toISOString();
  try {
    await control.write((transaction) =>
      transaction.updateTable("session").set({ seen_at }).where("id", "=", id).execute(),
    );
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
  }
}

/** By its age, or after a long time without a request. */
const hasEnded = ({ ends_at, seen_at }: Selectable<SessionTable>, now: number) =>
  now >= Date.parse(ends_at) || now >= Date.parse(seen_at) + idleMilliseconds;
