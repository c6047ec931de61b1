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
import type {
  AccountTable,
  ApiKeyTable,
  ControlTables,
  ControlTransaction,
  PersonTable,
} from "#store/control-tables.ts";
import { controlFile } from "#store/sqlite-file.ts";

/**
 * A key, account, person or right that ended. The kinds of endings:
 * - `revoked`: a key; `expires`: a key that was given an earlier expiry, perhaps in the future
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

interface KeptEnding {
  ending: Ending;
  /** Writes the ending into the unpacked database. */
  keep(transaction: ControlTransaction): Promise<unknown>;
}

/** Returns the endings that the backup lacks or has at a later time. Returns none if `present` is null. */
export function findEndings(present: ControlFacts | null, backup: ControlFacts): KeptEnding[] {
  if (present === null) return [];
  return [
    ...pairs(present.keys, backup.keys).flatMap(([now, then]) => keyEndings(now, then)),
    ...pairs(present.accounts, backup.accounts).flatMap(([now, then]) => accountEndings(now, then)),
    ...[...backup.people.values()].flatMap((then) => personEndings(present, then)),
    ...[...present.unfollowed.values()].flatMap((view) => viewEndings(view, backup)),
    ...[...backup.members.values()].flatMap((then) => memberEndings(present, then)),
  ];
}

/** Reports whether a key is neither revoked nor expired. @param now ms since 1970. */
export const isLiveKey = ({ revoked_at, expires_at }: KeyFacts, now: number): boolean =>
  revoked_at === null && (expires_at === null || Date.parse(expires_at) > now);

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
  times: readonly [what: Ending["what"], now: Time, then: Time, keep: KeptEnding["keep"]][],
): KeptEnding[] =>
  times.flatMap(([what, now, then, keep]) =>
    now !== null && (then === null || now < then)
      ? [{ ending: { what, ...ending, at: now }, keep }]
      : [],
  );

/** Returns a key's endings. A rotation counts as an ending, because it sets an earlier expiry. */
function keyEndings(now: KeyFacts, then: KeyFacts): KeptEnding[] {
  const { id, name, account_name: account, revoked_at, expires_at } = now;
  const set = (columns: Partial<ApiKeyTable>) => (transaction: ControlTransaction) =>
    transaction.updateTable("api_key").set(columns).where("id", "=", id).execute();
  return timeEndings({ id, name, account }, [
    ["revoked", revoked_at, then.revoked_at, set({ revoked_at })],
    ["expires", expires_at, then.expires_at, set({ expires_at })],
  ]);
}

/** Returns an account's endings, with its name from the backup, because a closed account loses its name. */
function accountEndings({ id, suspended_at, closed_at }: AccountFacts, then: AccountFacts) {
  const suspend = (transaction: ControlTransaction) =>
    transaction.updateTable("account").set({ suspended_at }).where("id", "=", id).execute();
  const close = (transaction: ControlTransaction) =>
    closeRows(transaction, { account: then.number, id, at: closed_at! });
  return timeEndings({ id, name: then.name, account: then.name }, [
    ["suspended", suspended_at, then.suspended_at, suspend],
    ["closed", closed_at, then.closed_at, close],
  ]);
}

/** Returns a person's endings. Returns none for a person whom the present installation never had. */
function personEndings(present: ControlFacts, then: PersonFacts): KeptEnding[] {
  const { id, email: name } = then;
  const gone = present.deleted.get(id);
  if (gone !== undefined) {
    const { at } = gone;
    const keep = async (transaction: ControlTransaction) => {
      await deleteRows(transaction, id, then.email_folded);
      // Keeps the original time, because a later restore of an even older backup reports it again.
      const entry = { actor: service, subject: id, now: Date.parse(at) };
      await writeAudit(transaction, "person.deleted", entry);
    };
    return [{ ending: { what: "deleted", id, name, account: null, at }, keep }];
  }
  const password = present.people.get(id)?.password ?? then.password;
  if (password === then.password) return [];
  const keep = (transaction: ControlTransaction) =>
    transaction.updateTable("person").set({ password }).where("id", "=", id).execute();
  return [{ ending: { what: "password", id, name, account: null, at: null }, keep }];
}

/** Returns the ending of a view that was followed when the backup was made. Returns none for any other view. */
function viewEndings({ id, at }: ViewFacts, backup: ControlFacts): KeptEnding[] {
  const then = backup.followed.get(id);
  if (then === undefined || backup.unfollowed.has(id)) return [];
  const keep = async (transaction: ControlTransaction) => {
    await transaction.deleteFrom("followed_view").where("id", "=", id).execute();
    const { account } = then;
    const entry = { actor: service, account, subject: id, now: Date.parse(at) };
    await writeAudit(transaction, "view.unfollowed", entry);
  };
  return [{ ending: { what: "unfollowed", id, name: id, account: then.account_name, at }, keep }];
}

/**
 * Returns a membership's endings. Returns none if the person is gone, or the account is gone or closed: that already
 * ends the membership.
 */
function memberEndings(present: ControlFacts, then: MemberFacts): KeptEnding[] {
  const { id, person, account } = then;
  const isOpen = [...present.accounts.values()].some(
    ({ number, closed_at }) => number === account && closed_at === null,
  );
  const now = present.members.get(id);
  const isDemoted = now !== undefined && now.role !== "owner" && then.role === "owner";
  if (!present.people.has(person) || !isOpen || (now !== undefined && !isDemoted)) return [];
  const what = isDemoted ? "demoted" : "removed";
  const keep = (transaction: ControlTransaction): Promise<unknown> =>
    isDemoted
      ? transaction
          .updateTable("member")
          .set({ role: "member" })
          .where((member) => member.and({ person, account }))
          .execute()
      : transaction
          .deleteFrom("member")
          .where((member) => member.and({ person, account }))
          .execute();
  return [
    { ending: { what, id: person, name: then.email, account: then.account_name, at: null }, keep },
  ];
}

type KeyFacts = Pick<ApiKeyTable, "id" | "name" | "hint" | "expires_at" | "revoked_at"> & {
  account_name: string;
};

type AccountFacts = Pick<AccountTable, "number" | "id" | "name" | "suspended_at" | "closed_at">;

type PersonFacts = Pick<PersonTable, "id" | "email" | "email_folded" | "password">;

/** A member; `id` is the person's id and the account's number, joined by a space. */
type MemberFacts = ControlTables["member"] & { id: string; account_name: string; email: string };

interface ViewFacts {
  id: string;
  account: number;
  account_name: string;
  /** Time at which the account began or stopped following the view. */
  at: string;
}

export type ControlFacts = Awaited<ReturnType<typeof queryControlFacts>>;

const viewsQuery = (action: "view.followed" | "view.unfollowed") => `
  select v.subject as id, v.account, a.name as account_name, v.at
  from audit v join account a on a.number = v.account where v.action = '${action}' order by v.number`;

/** Reads the facts that `findEndings` compares. @param query function that runs SQL on SQLite or PostgreSQL. */
export async function queryControlFacts(query: <Row>(sql: string) => Promise<Row[]>) {
  const byId = async <R extends { id: string }>(sql: string): Promise<ReadonlyMap<string, R>> =>
    new Map((await query<R>(sql)).map((one) => [one.id, one]));
  return {
    keys: await byId<KeyFacts>(
      `select k.id, k.name, k.hint, k.expires_at, k.revoked_at, a.name as account_name
       from api_key k join account a on a.number = k.account order by k.created_at, k.id`,
    ),
    accounts: await byId<AccountFacts>(
      "select number, id, name, suspended_at, closed_at from account order by number",
    ),
    people: await byId<PersonFacts>(
      "select id, email, email_folded, password from person order by created_at, id",
    ),
    members: await byId<MemberFacts>(
      `select m.*, m.person || ' ' || m.account as id, a.name as account_name, p.email
       from member m join account a on a.number = m.account join person p on p.id = m.person
       order by m.account, m.joined_at, p.email_folded`,
    ),
    /** Deletion times of people, by person id, from the audit log. */
    deleted: await byId<{ id: string; at: string }>(
      "select subject as id, at from audit where action = 'person.deleted'",
    ),
    /** Views that an account began to follow, even if it stopped later, from the audit log. */
    followed: await byId<ViewFacts>(viewsQuery("view.followed")),
    unfollowed: await byId<ViewFacts>(viewsQuery("view.unfollowed")),
    /** Suppressions of people; none if the schema has no table for them. */
    suppressions: (await query<{ name: string }>("select name from schema_step")).some(({ name }) =>
      name.endsWith("-suppressions"),
    )
      ? await query<Suppression>("select * from suppression order by number")
      : [],
  };
}

/** Reads the facts of an SQLite file. @throws whatever node:sqlite throws. */
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
  if (databaseUrl === null) {
    const file = controlFile(dataDir);
    return existsSync(file) ? readControlFacts(file) : null;
  }
  const { withSession } = await import("#store/postgres.ts");
  return withSession(databaseUrl, (session) =>
    session.inTransaction(async () => {
      const sql = "select to_regclass('account') is null as \"isEmpty\"";
      const [found] = await session.query<{ isEmpty: boolean }>(sql);
      return found!.isEmpty ? null : queryControlFacts(session.query);
    }, "begin isolation level repeatable read read only"),
  );
}

/** Reports whether counts stay valid: each account number in the backup now belongs to the same account or to none. */
export function hasSameNumbers(present: ControlFacts, backup: ControlFacts): boolean {
  const numbers = new Map([...present.accounts.values()].map(({ number, id }) => [number, id]));
  return [...backup.accounts.values()].every(
    ({ number, id }) => (numbers.get(number) ?? id) === id,
  );
}
