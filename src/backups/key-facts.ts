/** Reads who may use the service out of a control database, of whichever schema, without changing it. */
import { DatabaseSync } from "node:sqlite";

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
}

export interface ControlFacts {
  keys: ReadonlyMap<string, KeyFacts>;
  accounts: ReadonlyMap<string, AccountFacts>;
}

/** These columns are there since the first schema. @throws what node:sqlite throws. */
export function readControlFacts(file: string): ControlFacts {
  const database = new DatabaseSync(file, { timeout: 1000 });
  const rows = <R>(sql: string) => database.prepare(sql).all() as unknown as R[];
  const byId = <R extends { id: string }>(all: R[]) => new Map(all.map((one) => [one.id, one]));
  try {
    return {
      keys: byId(
        rows<KeyFacts>(
          `select k.id, k.name, k.hint, a.name as account, k.expires_at as expiresAt, k.revoked_at as revokedAt
           from api_key k join account a on a.number = k.account order by k.created_at, k.id`,
        ),
      ),
      accounts: byId(
        rows<AccountFacts>(
          "select number, id, name, suspended_at as suspendedAt from account order by number",
        ),
      ),
    };
  } finally {
    database.close();
  }
}
