/** Accounts that have somebody to tell something. */
import type { Kysely } from "kysely";
import type { ControlTables } from "#store/control-tables.ts";

export interface OwnedAccount {
  number: number;
  name: string;
  /** Addresses of its owners. */
  owners: readonly string[];
}

/** Neither closed nor suspended, in the order of their numbers. */
export async function listOwnedAccounts(database: Kysely<ControlTables>): Promise<OwnedAccount[]> {
  const rows = await database
    .selectFrom("account")
    .innerJoin("member", "member.account", "account.number")
    .innerJoin("person", "person.id", "member.person")
    .select(["account.number", "account.name", "person.email"])
    .where("member.role", "=", "owner")
    .where("account.closed_at", "is", null)
    .where("account.suspended_at", "is", null)
    .orderBy("account.number")
    .orderBy("person.id")
    .execute();
  return [...Map.groupBy(rows, ({ number }) => number)].map(([number, owners]) => ({
    number,
    name: owners[0]!.name,
    owners: owners.map(({ email }) => email),
  }));
}
