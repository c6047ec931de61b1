/** An account as the rest of the program sees it, and how one is found by name or id. */
import type { Kysely, Selectable } from "kysely";
import {
  type AccountTable,
  type ControlTables,
  type Quotas,
  quotasOf,
} from "#store/control-tables.ts";
import { StoreFault } from "#store/store-fault.ts";

export interface Account {
  number: number;
  id: string;
  name: string;
  quotas: Quotas;
  suspendedAt: string | null;
  createdAt: string;
}

/** The account of this id, or of this name in any letter case. */
export async function findAccount(
  database: Kysely<ControlTables>,
  idOrName: string,
): Promise<Account | undefined> {
  const row = await database
    .selectFrom("account")
    .selectAll()
    .where((where) =>
      where.or([where("id", "=", idOrName), where("name_folded", "=", foldName(idOrName))]),
    )
    .executeTakeFirst();
  return row && accountOf(row);
}

/** @throws StoreFault `not_found`, naming what was asked for. */
export async function requireAccount(
  database: Kysely<ControlTables>,
  idOrName: string,
): Promise<Account> {
  const account = await findAccount(database, idOrName);
  if (account !== undefined) return account;
  throw new StoreFault(
    "not_found",
    `There is no account '${idOrName.slice(0, 100)}'. \`gp-records accounts list\` shows them all.`,
  );
}

/** The form in which two names may not be the same. */
export const foldName = (name: string) => name.normalize("NFC").trim().toLowerCase();

export const accountOf = (row: Selectable<AccountTable>): Account => ({
  number: row.number,
  id: row.id,
  name: row.name,
  quotas: quotasOf(row),
  suspendedAt: row.suspended_at,
  createdAt: row.created_at,
});
