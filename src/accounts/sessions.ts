/** Sessions of signed-in people, and the browsers known to be theirs. Opens, finds and ends sessions. */
import { clientNetwork } from "#limits/client-network.ts";
import { writeAudit } from "#store/audit.ts";
import type { ControlDatabase, ControlTables, ControlTransaction } from "#store/control-tables.ts";
import { DomainError } from "#store/store-fault.ts";
import { dayMilliseconds, hourMilliseconds, minuteMilliseconds } from "#store/durations.ts";
import { digestToken, makeId, makeToken } from "#store/random-text.ts";
import type { ControlStore } from "#store/stores.ts";
import { endedLinkDays, knownBrowserDays, sessionDays } from "./kept-days.ts";
import { listMemberships } from "./members.ts";
import { type Person, personOf, personRow } from "./people.ts";
import { type Client, forgottenMilliseconds } from "./throttle.ts";

const sessionMilliseconds = sessionDays * dayMilliseconds;
const idleMilliseconds = 12 * hourMilliseconds;
const seenMilliseconds = minuteMilliseconds;

/** A person who is signed in, and the accounts that they may view. */
export type SignedIn = NonNullable<Awaited<ReturnType<typeof findSession>>>;

/**
 * Finds the session with this token. Returns undefined if there is none or it has ended. Notes its use at most once a
 * minute.
 */
export async function findSession(control: ControlStore, token: string, now: number) {
  const { database } = control;
  const sessions = liveSessions(database, now).selectAll();
  const row = await sessions.where("digest", "=", digestToken(token)).executeTakeFirst();
  if (row === undefined) return undefined;
  const person = await personRow(database, "id", row.person);
  if (person === undefined) return undefined;
  if (now - Date.parse(row.seen_at) >= seenMilliseconds) await markSeen(control, row.id, now);
  /** Memberships, oldest first. */
  const accounts = await listMemberships(database, person.id);
  /** Account that is shown; null if the person has none. */
  const account = accounts.find(({ number }) => number === row.account) ?? accounts[0] ?? null;
  return { session: row.id, person: personOf(person), accounts, account };
}

/**
 * Lists a person's sessions that have not ended, most recently used first. `seenAt` may be up to a minute too early.
 */
export const listSessions = (database: ControlDatabase, person: string, now: number) =>
  liveSessions(database, now)
    .select(["id", "created_at as createdAt", "seen_at as seenAt", "network", "browser"])
    .where("person", "=", person)
    .orderBy("seen_at", "desc")
    .orderBy("id")
    .execute();

/**
 * Ends one of a person's sessions.
 * @param own id of the session that the request belongs to, so that the audit log can tell signing out from ending
 *   another session.
 * @throws DomainError `not_found` if the session has ended or is somebody else's.
 */
export async function endSession(
  control: ControlStore,
  { person, id, own = id, now }: { person: string; id: string; own?: string; now: number },
): Promise<void> {
  await control.write(async (transaction) => {
    const query = transaction.deleteFrom("session").where("id", "=", id);
    const { numDeletedRows } = await query.where("person", "=", person).executeTakeFirst();
    if (numDeletedRows === 0n)
      throw new DomainError("not_found", "This browser is already signed out.");
    const action = id === own ? "person.signed_out" : "person.session_ended";
    await writeAudit(transaction, action, { actor: person, subject: id, now });
  });
}

export function endAllSessions(
  control: ControlStore,
  { person, now }: { person: string; now: number },
): Promise<void> {
  return control.write(async (transaction) => {
    for (const subject of await deleteSessions(transaction, person))
      await writeAudit(transaction, "person.session_ended", { actor: person, subject, now });
  });
}

/** Deletes a person's sessions, inside a transaction. @returns the sessions' ids. */
export async function deleteSessions(
  transaction: ControlTransaction,
  person: string,
): Promise<string[]> {
  const query = transaction.deleteFrom("session").where("person", "=", person);
  const rows = await query.returning("id").execute();
  return rows.map(({ id }) => id);
}

/** Switches a session to another account. @throws DomainError `not_found` if the person is not a member of it. */
export async function switchAccount(
  control: ControlStore,
  { person, session, accountId }: { person: string; session: string; accountId: string },
): Promise<void> {
  await control.write(async (transaction) => {
    const memberships = await listMemberships(transaction, person);
    const chosen = memberships.find(({ id }) => id === accountId);
    if (chosen === undefined)
      throw new DomainError(
        "not_found",
        "You are no longer a member of the account you chose. Choose another account, or ask an owner of that one to invite you again.",
      );
    const query = transaction.updateTable("session").set({ account: chosen.number });
    await query.where("id", "=", session).where("person", "=", person).execute();
  });
}

/** Records when a session was used. Ignores a refusal by the store, because the next request tries again. */
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

/** Returns a query of sessions that have not ended. They end after 7 days, or after 12 hours without a request. */
const liveSessions = (database: ControlDatabase, now: number) =>
  database
    .selectFrom("session")
    .where("ends_at", ">", new Date(now).toISOString())
    .where("seen_at", ">", new Date(now - idleMilliseconds).toISOString());

/** A new session. Its two tokens belong in cookies, and are stored nowhere else. */
export type OpenedSession = Awaited<ReturnType<typeof openSession>>;

/** Opens a session. @param account number of the account to show first; by default the oldest membership's. */
export async function openSession(
  transaction: ControlTransaction,
  {
    person,
    client,
    account,
    now,
  }: { person: Person; client: Client; account?: number; now: number },
) {
  const sessionToken = makeToken();
  const [oldest] = account === undefined ? await listMemberships(transaction, person.id) : [];
  const row = {
    digest: digestToken(sessionToken),
    id: makeId("se"),
    person: person.id,
    account: account ?? oldest?.number ?? null,
    created_at: new Date(now).toISOString(),
    seen_at: new Date(now).toISOString(),
    ends_at: new Date(now + sessionMilliseconds).toISOString(),
    network: clientNetwork(client.address),
    browser: browserOf(client),
  };
  await transaction.insertInto("session").values(row).execute();
  const token = client.browserToken;
  const browserToken = await rememberBrowser(transaction, { token, person: person.id, now });
  return { sessionToken, browserToken, person, session: row.id };
}

// The order matters: Edge and Opera also call themselves Chrome, and Chrome calls itself Safari.
const browsers = [
  ["Edg", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["FxiOS/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["CriOS/", "Chrome"],
  ["Safari/", "Safari"],
  ["curl/", "curl"],
] as const;

const systems = [
  ["Windows", "Windows"],
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Mac OS X", "macOS"],
  ["CrOS", "ChromeOS"],
  ["Linux", "Linux"],
] as const;

/** Returns a browser's name for people, such as `Firefox on Linux`. The rest of the User-Agent header is not stored. */
export function browserOf({ userAgent }: Client): string {
  const named = (words: readonly (readonly [string, string])[]) =>
    words.find(([mark]) => userAgent.includes(mark))?.[1];
  const browser = named(browsers) ?? "another browser";
  const system = named(systems);
  return system === undefined ? browser : `${browser} on ${system}`;
}

export async function isKnownBrowser(
  database: ControlDatabase,
  { token, person, now }: { token: string | null; person: string; now: number },
): Promise<boolean> {
  if (token === null) return false;
  const row = await database
    .selectFrom("known_browser")
    .select("person")
    .where("digest", "=", digestToken(token))
    .where("person", "=", person)
    .where("seen_at", ">", new Date(now - knownBrowserDays * dayMilliseconds).toISOString())
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Returns the value for a browser's cookie: the present value if it marks a known browser of this person, otherwise
 * a new value. A value planted by somebody else is never reused.
 */
async function rememberBrowser(
  transaction: ControlTransaction,
  { token, person, now }: { token: string | null; person: string; now: number },
): Promise<string> {
  const seen_at = new Date(now).toISOString();
  if (token !== null && (await isKnownBrowser(transaction, { token, person, now }))) {
    const present = transaction.updateTable("known_browser").set({ seen_at });
    await present.where("digest", "=", digestToken(token)).execute();
    return token;
  }
  const fresh = makeToken();
  const row = { digest: digestToken(fresh), person, seen_at };
  await transaction.insertInto("known_browser").values(row).execute();
  return fresh;
}

/** Deletes ended sessions, old links, browsers that are no longer known, and old counts of attempts. */
export const forgetOld = (control: ControlStore, now: number): Promise<void> =>
  control.write(async (transaction) => {
    const before = (milliseconds: number) => new Date(now - milliseconds).toISOString();
    const old = <T extends keyof ControlTables>(
      table: T,
      time: keyof ControlTables[T] & string,
      kept: number,
    ) => [table, time, kept] as const;
    for (const [table, time, kept] of [
      old("session", "ends_at", 0),
      old("session", "seen_at", idleMilliseconds),
      old("link", "expires_at", endedLinkDays * dayMilliseconds),
      old("known_browser", "seen_at", knownBrowserDays * dayMilliseconds),
      old("throttle", "next_at", forgottenMilliseconds),
    ])
      await transaction
        .deleteFrom(table)
        .where(transaction.dynamic.ref(time), "<=", before(kept))
        .execute();
  });
