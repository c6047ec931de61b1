/** Finds accounts by name, id or number, in the form that the rest of the program uses. */
import type { Kysely, Selectable } from "kysely";
import {
  type AccountTable,
  type ControlTables,
  type Quotas,
  quotasOf,
} from "#store/control-tables.ts";
import { DomainError } from "#store/domain-error.ts";

export interface Account {
  number: number;
  id: string;
  name: string;
  /** Its own quotas; null stands for what its plan says. */
  quotas: Quotas;
  plan: string | null;
  suspendedAt: string | null;
  closedAt: string | null;
  createdAt: string;
}

/** As commands and a person's export of their data show it. */
export const accountJson = ({ id, name, quotas, plan, suspendedAt, createdAt }: Account) => ({
  id,
  name,
  limits: quotas,
  plan,
  suspended_at: suspendedAt,
  created_at: createdAt,
});

/** The account with this id, or with this name in any letter case. */
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

/** @throws DomainError `not_found`, naming what was asked for. */
export async function requireAccount(
  database: Kysely<ControlTables>,
  idOrName: string,
): Promise<Account> {
  const account = await findAccount(database, idOrName);
  if (account !== undefined) return account;
  throw new DomainError(
    "not_found",
    `There is no account '${idOrName.slice(0, 100)}'. \`gp-records accounts list\` shows them all.`,
  );
}

/** @throws DomainError `not_found`, or `conflict` for a closed account, which cannot be changed. */
export async function requireOpenAccount(
  database: Kysely<ControlTables>,
  idOrName: string,
): Promise<Account> {
  const account = await requireAccount(database, idOrName);
  refuseClosed(account);
  return account;
}

/** The same by the account's number. */
export async function requireOpenNumber(
  database: Kysely<ControlTables>,
  number: number,
): Promise<Account> {
  const account = accountOf(
    await database
      .selectFrom("account")
      .selectAll()
      .where("number", "=", number)
      .executeTakeFirstOrThrow(),
  );
  refuseClosed(account);
  return account;
}

function refuseClosed({ id, closedAt }: Account): void {
  if (closedAt !== null)
    throw new DomainError(
      "conflict",
      `The account ${id} was closed at ${closedAt}. Make a new one in its place.`,
    );
}

/** The form in which two names may not be the same. */
export const foldName = (name: string) => name.normalize("NFC").trim().toLowerCase();

export const accountOf = (row: Selectable<AccountTable>): Account => ({
  number: row.number,
  id: row.id,
  name: row.name,
  quotas: quotasOf(row),
  plan: row.plan,
  suspendedAt: row.suspended_at,
  closedAt: row.closed_at,
  createdAt: row.created_at,
});
