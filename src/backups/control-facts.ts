/** Reads who may use the service from a control database, whatever its schema, without changing it. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { StoreFault } from "#store/domain-error.ts";
import { controlFile } from "#store/files.ts";
import { sqliteFault } from "#store/store-fault.ts";

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
  /** Hashed. */
  password: string;
}

export interface MemberFacts {
  /** Id of the person and number of the account, joined. */
  id: string;
  person: string;
  account: number;
  accountName: string;
  email: string;
  role: string;
}

export interface ControlFacts {
  keys: ReadonlyMap<string, KeyFacts>;
  accounts: ReadonlyMap<string, AccountFacts>;
  people: ReadonlyMap<string, PersonFacts>;
  members: ReadonlyMap<string, MemberFacts>;
  /** When people were deleted, by id: nothing else is left of them. */
  deleted: ReadonlyMap<string, { at: string }>;
}

const keysQuery = `
  select k.id, k.name, k.hint, a.name as account, k.expires_at as expiresAt, k.revoked_at as revokedAt
  from api_key k join account a on a.number = k.account order by k.created_at, k.id`;

const membersQuery = `
  select m.person || ' ' || m.account as id, m.person, m.account, a.name as accountName, p.email, m.role
  from member m join account a on a.number = m.account join person p on p.id = m.person
  order by m.account, m.joined_at, p.email_folded`;

/** A schema from before there were people has none. @throws what node:sqlite throws. */
export function readControlFacts(file: string): ControlFacts {
  const database = new DatabaseSync(file, { timeout: 1000 });
  const byId = <R extends { id: string }>(sql: string) => {
    const rows = database.prepare(sql).all() as unknown as R[];
    return new Map(rows.map((one) => [one.id, one]));
  };
  try {
    const hasPeople =
      database.prepare("select 1 from sqlite_schema where name = 'person'").get() !== undefined;
    const closedAt = hasPeople ? "closed_at" : "null";
    return {
      keys: byId<KeyFacts>(keysQuery),
      accounts: byId<AccountFacts>(
        `select number, id, name, suspended_at as suspendedAt, ${closedAt} as closedAt from account order by number`,
      ),
      people: hasPeople
        ? byId<PersonFacts>(
            "select id, email, email_folded as folded, password from person order by created_at, id",
          )
        : new Map(),
      members: hasPeople ? byId<MemberFacts>(membersQuery) : new Map(),
      deleted: hasPeople
        ? byId<{ id: string; at: string }>(
            "select subject as id, at from audit where action = 'person.deleted'",
          )
        : new Map(),
    };
  } finally {
    database.close();
  }
}

/** `unreadable` for a database that is damaged. @throws StoreFault `busy` if another process keeps it locked. */
export function presentControl(dataDir: string): ControlFacts | "none" | "unreadable" {
  const file = controlFile(dataDir);
  if (!existsSync(file)) return "none";
  try {
    return readControlFacts(file);
  } catch (error) {
    const fault = sqliteFault(error, file);
    if (fault instanceof StoreFault && fault.kind === "busy") throw fault;
    return "unreadable";
  }
}

/** Quotas are counted by the number of an account, so counts hold only if both sides number their accounts alike. */
export function hasSameNumbers(present: ControlFacts, backup: ControlFacts): boolean {
  const numbers = new Map([...present.accounts.values()].map(({ number, id }) => [number, id]));
  return [...backup.accounts.values()].every(
    ({ number, id }) => (numbers.get(number) ?? id) === id,
  );
}
