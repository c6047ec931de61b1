/** People, who have proven an e-mail address and chosen a password. */
import type { Kysely, Selectable, Transaction } from "kysely";
import type { ControlTables, PersonTable } from "#store/control-tables.ts";
import { DomainError } from "#store/domain-error.ts";
import { makeId } from "#store/random-text.ts";
import { type Address, foldAddress } from "./addresses.ts";

export interface Person {
  id: string;
  email: string;
  createdAt: string;
}

/** By address, ignoring letter case. */
export async function findPerson(
  database: Kysely<ControlTables>,
  address: string,
): Promise<Person | undefined> {
  const row = await personRow(database, "email_folded", foldAddress(address));
  return row && personOf(row);
}

export async function findPersonById(
  database: Kysely<ControlTables>,
  id: string,
): Promise<Person | undefined> {
  const row = await personRow(database, "id", id);
  return row && personOf(row);
}

/** @throws DomainError `not_found`. */
export async function requirePerson(
  database: Kysely<ControlTables>,
  address: string,
): Promise<Person> {
  const person = await findPerson(database, address);
  if (person !== undefined) return person;
  throw new DomainError(
    "not_found",
    `Nobody has the address '${address.slice(0, 100)}' here. \`gp-records accounts invite\` makes a link that lets them in.`,
  );
}

/** @throws DomainError `not_found` for a person who is gone. */
export async function requirePersonRow(
  database: Kysely<ControlTables>,
  id: string,
): Promise<Selectable<PersonTable>> {
  const row = await personRow(database, "id", id);
  if (row !== undefined) return row;
  throw new DomainError("not_found", "This person has been deleted.");
}

/**
 * @param password hashed; null where the person who had the address has just been deleted.
 * @throws DomainError `conflict` where somebody has the address, or for a null password.
 */
export async function insertPerson(
  transaction: Transaction<ControlTables>,
  { address, password, now }: { address: Address; password: string | null; now: number },
): Promise<Person> {
  await refuseTaken(transaction, address.folded);
  if (password === null)
    throw new DomainError("conflict", "Whoever had this address has just left. Try again.");
  const row = {
    id: makeId("pe"),
    email: address.email,
    email_folded: address.folded,
    password,
    created_at: new Date(now).toISOString(),
  };
  await transaction.insertInto("person").values(row).execute();
  return personOf(row);
}

/** @throws DomainError `conflict`. */
export async function refuseTaken(
  transaction: Transaction<ControlTables>,
  folded: string,
): Promise<void> {
  if ((await personRow(transaction, "email_folded", folded)) === undefined) return;
  throw new DomainError(
    "conflict",
    "Somebody has signed up with this address already. Sign in, or ask for a link to choose a new password.",
  );
}

export const personRow = (
  database: Kysely<ControlTables>,
  column: "id" | "email_folded",
  value: string,
): Promise<Selectable<PersonTable> | undefined> =>
  database.selectFrom("person").selectAll().where(column, "=", value).executeTakeFirst();

export const personOf = (row: Selectable<PersonTable>): Person => ({
  id: row.id,
  email: row.email,
  createdAt: row.created_at,
});
