/** Reads an installation's accounts, keys and people, without changing them. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { controlFile } from "#store/sqlite-file.ts";

export interface KeyFacts {
  id: string;
  name: string;
  hint: string;
  account: string;
  expiresAt: string | null;
  revokedAt: string | null;
}

export interface AccountFacts {
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

export interface MemberFacts {
  /** Person's id and account's number, joined by a space. */
  id: string;
  person: string;
  account: number;
  accountName: string;
  email: string;
  role: string;
}

export interface ViewFacts {
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

/** Reports whether no account number in the backup stands for another account now, so that counts by number hold. */
export function hasSameNumbers(present: ControlFacts, backup: ControlFacts): boolean {
  const numbers = new Map([...present.accounts.values()].map(({ number, id }) => [number, id]));
  return [...backup.accounts.values()].every(
    ({ number, id }) => (numbers.get(number) ?? id) === id,
  );
}
