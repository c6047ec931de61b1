/**
 * Finds the keys, accounts, people and rights that ended after a backup was made, and ends them again in the restored
 * database. A restore would otherwise revive them.
 */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { closeRows } from "#accounts/accounts.ts";
import { deleteRows } from "#accounts/personal-data.ts";
import type { Suppression } from "#datasets/suppressions.ts";
import { service, writeAudit } from "#store/audit.ts";
import type { ControlTransaction } from "#store/control-tables.ts";
import { controlFile } from "#store/sqlite-file.ts";

/**
 * A key, account, person or right that ended. The kinds of endings:
 * - `revoked`, `expires`: a key
 * - `suspended`, `closed`: an account
 * - `deleted`, `password`: a person who was deleted, or whose password was changed
 * - `unfollowed`: a view whose feed was stopped
 * - `removed`, `demoted`: a person who is no longer a member of an account, or no longer an owner
 */
export interface Ending {
  what:
    | "revoked"
    | "expires"
    | "suspended"
    | "closed"
    | "deleted"
    | "password"
    | "unfollowed"
    | "removed"
    | "demoted";
  /** Id of the key, the account, the person or the view. */
  id: string;
  /** Name of the key or the account, or the person's address; the id of a view. */
  name: string;
  /** Name of the account; null if only a person is concerned. */
  account: string | null;
  /** Time of the ending; null if unknown. */
  at: string | null;
}

/** Returns what has ended in the present installation, but not in the backup or only later there. */
export function findEndings(present: ControlFacts | null, backup: ControlFacts): Ending[] {
  if (present === null) return [];
  return [
    ...pairs(present.keys, backup.keys).flatMap(([now, then]) => keyEndings(now, then)),
    ...pairs(present.accounts, backup.accounts).flatMap(([now, then]) => accountEndings(now, then)),
    ...[...backup.people.values()].flatMap((then) => personEndings(present, then)),
    ...[...present.unfollowed.values()].flatMap((view) => viewEndings(view, backup)),
    ...[...backup.members.values()].flatMap((then) => memberEndings(present, then)),
  ];
}

/** Returns the live keys missing from the backup, which are refused after a restore. */
export const findLost = (present: ControlFacts, backup: ControlFacts, now: number): KeyFacts[] =>
  [...present.keys.values()].filter((key) => !backup.keys.has(key.id) && isLiveKey(key, now));

/** Reports whether a key is neither revoked nor expired. @param now ms since 1970. */
export const isLiveKey = ({ revokedAt, expiresAt }: KeyFacts, now: number): boolean =>
  revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > now);

/** Returns the people missing from the backup, who must sign up or be invited again after a restore. */
export const findLostPeople = (present: ControlFacts, backup: ControlFacts): PersonFacts[] =>
  [...present.people.values()].filter(({ id }) => !backup.people.has(id));

function pairs<R>(present: ReadonlyMap<string, R>, backup: ReadonlyMap<string, R>): [R, R][] {
  return [...present].flatMap(([id, now]) => {
    const then = backup.get(id);
    return then === undefined ? [] : [[now, then] as [R, R]];
  });
}

type Time = string | null;

/** Returns the endings whose time is earlier than in the backup, or not set there. ISO times sort as text. */
const timeEndings = (
  ending: Omit<Ending, "what" | "at">,
  times: readonly [what: Ending["what"], now: Time, then: Time][],
): Ending[] =>
  times.flatMap(([what, now, then]) =>
    now !== null && (then === null || now < then) ? [{ what, ...ending, at: now }] : [],
  );

/** Returns a key's endings. A rotation counts as one, because it sets an earlier expiry. */
const keyEndings = ({ id, name, account, revokedAt, expiresAt }: KeyFacts, then: KeyFacts) =>
  timeEndings({ id, name, account }, [
    ["revoked", revokedAt, then.revokedAt],
    ["expires", expiresAt, then.expiresAt],
  ]);

/** Returns an account's endings, with its name from the backup, because a closed account loses its name. */
const accountEndings = ({ id, suspendedAt, closedAt }: AccountFacts, then: AccountFacts) =>
  timeEndings({ id, name: then.name, account: then.name }, [
    ["suspended", suspendedAt, then.suspendedAt],
    ["closed", closedAt, then.closedAt],
  ]);

/** Returns a person's endings. Returns none for a person whom the present installation never had. */
function personEndings(
  present: ControlFacts,
  { id, email: name, password }: PersonFacts,
): Ending[] {
  const gone = present.deleted.get(id);
  if (gone !== undefined) return [{ what: "deleted", id, name, account: null, at: gone.at }];
  const now = present.people.get(id);
  return now === undefined || now.password === password
    ? []
    : [{ what: "password", id, name, account: null, at: null }];
}

/** Returns the ending of a view that was followed when the backup was made, and is not any more. */
const viewEndings = ({ id, account, at }: ViewFacts, { followed, unfollowed }: ControlFacts) =>
  followed.has(id) && !unfollowed.has(id)
    ? [{ what: "unfollowed" as const, id, name: id, account, at }]
    : [];

/**
 * Returns a membership's endings. Returns none if the present installation lacks the person or the open account: the
 * deletion or the closure already ends the membership.
 */
function memberEndings(present: ControlFacts, then: MemberFacts): Ending[] {
  const isKnown =
    present.people.has(then.person) &&
    [...present.accounts.values()].some(
      ({ number, closedAt }) => number === then.account && closedAt === null,
    );
  if (!isKnown) return [];
  const now = present.members.get(then.id);
  const ending = { id: then.person, name: then.email, account: then.accountName, at: null };
  if (now === undefined) return [{ what: "removed", ...ending }];
  return now.role !== "owner" && then.role === "owner" ? [{ what: "demoted", ...ending }] : [];
}

interface BothFacts {
  present: ControlFacts;
  backup: ControlFacts;
}

/** Writes the endings into the unpacked database before it is put in place. */
export async function keepEndings(
  transaction: ControlTransaction,
  endings: readonly Ending[],
  facts: BothFacts,
): Promise<void> {
  for (const ending of endings) await keep(transaction, ending, facts);
}

async function keep(
  transaction: ControlTransaction,
  { what, id, account, at }: Ending,
  { present, backup }: BothFacts,
): Promise<unknown> {
  const key = transaction.updateTable("api_key").where("id", "=", id);
  switch (what) {
    case "revoked":
      return key.set({ revoked_at: at }).execute();
    case "expires":
      return key.set({ expires_at: at }).execute();
    case "suspended":
      return transaction
        .updateTable("account")
        .set({ suspended_at: at })
        .where("id", "=", id)
        .execute();
    case "closed":
      return closeRows(transaction, { account: backup.accounts.get(id)!.number, id, at: at! });
    case "deleted":
      await deleteRows(transaction, id, backup.people.get(id)!.folded);
      return writeAudit(transaction, "person.deleted", {
        actor: service,
        subject: id,
        // Keeps the original time, because a later restore of an even older backup reports it again.
        now: Date.parse(at!),
      });
    case "password": {
      const { password } = present.people.get(id)!;
      return transaction.updateTable("person").set({ password }).where("id", "=", id).execute();
    }
    case "unfollowed":
      await transaction.deleteFrom("followed_view").where("id", "=", id).execute();
      return writeAudit(transaction, "view.unfollowed", {
        actor: service,
        account: numberOf(account!, backup),
        subject: id,
        now: Date.parse(at!),
      });
    default: {
      const ofBoth = { person: id, account: numberOf(account!, backup) };
      if (what === "removed")
        return transaction
          .deleteFrom("member")
          .where((member) => member.and(ofBoth))
          .execute();
      return transaction
        .updateTable("member")
        .set({ role: "member" })
        .where((member) => member.and(ofBoth))
        .execute();
    }
  }
}

const numberOf = (account: string, { accounts }: ControlFacts): number =>
  [...accounts.values()].find(({ name }) => name === account)!.number;

export interface KeyFacts {
  id: string;
  name: string;
  hint: string;
  account: string;
  expiresAt: string | null;
  revokedAt: string | null;
}

interface AccountFacts {
  number: number;
  id: string;
  name: string;
  suspendedAt: string | null;
  closedAt: string | null;
}

export interface PersonFacts {
  id: string;
  email: string;
  folded: string;
  /** Hash of the password. */
  password: string;
}

interface MemberFacts {
  /** Person's id and account's number, joined by a space. */
  id: string;
  person: string;
  account: number;
  accountName: string;
  email: string;
  role: string;
}

interface ViewFacts {
  id: string;
  account: string;
  /** Time at which the account began or stopped following the view. */
  at: string;
}

export type ControlFacts = Awaited<ReturnType<typeof queryControlFacts>>;

const keysQuery = `
  select k.id, k.name, k.hint, a.name as account, k.expires_at as "expiresAt", k.revoked_at as "revokedAt"
  from api_key k join account a on a.number = k.account order by k.created_at, k.id`;

const membersQuery = `
  select m.person || ' ' || m.account as id, m.person, m.account, a.name as "accountName", p.email, m.role
  from member m join account a on a.number = m.account join person p on p.id = m.person
  order by m.account, m.joined_at, p.email_folded`;

const viewsQuery = (action: "view.followed" | "view.unfollowed") => `
  select v.subject as id, a.name as account, v.at from audit v join account a on a.number = v.account
  where v.action = '${action}' order by v.number`;

const accountsQuery = `
  select number, id, name, suspended_at as "suspendedAt", closed_at as "closedAt" from account order by number`;

/** Reads the facts from a database. @param query function that runs SQL on SQLite or PostgreSQL. */
export async function queryControlFacts(query: <Row>(sql: string) => Promise<Row[]>) {
  const byId = async <R extends { id: string }>(sql: string): Promise<ReadonlyMap<string, R>> =>
    new Map((await query<R>(sql)).map((one) => [one.id, one]));
  return {
    keys: await byId<KeyFacts>(keysQuery),
    accounts: await byId<AccountFacts>(accountsQuery),
    people: await byId<PersonFacts>(
      "select id, email, email_folded as folded, password from person order by created_at, id",
    ),
    members: await byId<MemberFacts>(membersQuery),
    /** Deletion times of people, by person id, from the audit log. */
    deleted: await byId<{ id: string; at: string }>(
      "select subject as id, at from audit where action = 'person.deleted'",
    ),
    /** Views that an account began to follow and stopped following, from the audit log. */
    followed: await byId<ViewFacts>(viewsQuery("view.followed")),
    unfollowed: await byId<ViewFacts>(viewsQuery("view.unfollowed")),
    /** People who are kept out of the records; none in a schema without their table. */
    suppressions: (await query<{ name: string }>("select name from schema_step")).some(({ name }) =>
      name.endsWith("-suppressions"),
    )
      ? await query<Suppression>("select * from suppression order by number")
      : [],
  };
}

/** Reads the facts from a file. @throws whatever node:sqlite throws. */
export async function readControlFacts(file: string): Promise<ControlFacts> {
  using database = new DatabaseSync(file, { timeout: 1000 });
  return await queryControlFacts(
    async <Row>(sql: string) => database.prepare(sql).all() as unknown as Row[],
  );
}

/** Settings that say where an installation keeps its accounts and keys. */
export interface Installation {
  dataDir: string;
  databaseUrl: string | null;
}

/**
 * Reads an installation's present facts. Returns null if its file does not exist, or its database has no tables yet.
 * @throws whatever node:sqlite or `withSession` throws.
 */
export async function presentControl({
  dataDir,
  databaseUrl,
}: Installation): Promise<ControlFacts | null> {
  if (databaseUrl !== null) return databaseFacts(databaseUrl);
  const file = controlFile(dataDir);
  return existsSync(file) ? readControlFacts(file) : null;
}

async function databaseFacts(url: string): Promise<ControlFacts | null> {
  const { withSession } = await import("#store/postgres.ts");
  return withSession(url, (session) =>
    session.inTransaction(async () => {
      const sql = "select to_regclass('account') is null as \"isEmpty\"";
      const [found] = await session.query<{ isEmpty: boolean }>(sql);
      return found!.isEmpty ? null : queryControlFacts(session.query);
    }, "begin isolation level repeatable read read only"),
  );
}

/** Reports whether no account number in the backup stands for another account now, so that counts stay valid. */
export function hasSameNumbers(present: ControlFacts, backup: ControlFacts): boolean {
  const numbers = new Map([...present.accounts.values()].map(({ number, id }) => [number, id]));
  return [...backup.accounts.values()].every(
    ({ number, id }) => (numbers.get(number) ?? id) === id,
  );
}
