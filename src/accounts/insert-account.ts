/** Makes the row of an account, as part of a transaction. */
import type { Transaction } from "kysely";
import { type Actor, operator, writeAudit } from "#store/audit.ts";
import type { ControlTables, Quotas } from "#store/control-tables.ts";
import { makeId } from "#store/random-text.ts";
import { type Account, accountOf, foldName } from "./find-account.ts";

export interface AccountOrder {
  name: string;
  quotas: Partial<Quotas>;
  actor?: Actor;
  now: number;
}

/** @param order with a name that is clean and free. */
export async function insertAccount(
  transaction: Transaction<ControlTables>,
  { name, quotas, actor = operator, now }: AccountOrder,
): Promise<Account> {
  const row = {
    number: await nextNumber(transaction),
    id: makeId("ac"),
    name,
    name_folded: foldName(name),
    ...columnsOf(quotas),
    suspended_at: null,
    created_at: new Date(now).toISOString(),
    plan: null,
    closed_at: null,
  };
  await transaction.insertInto("account").values(row).execute();
  const account = row.number;
  await writeAudit(transaction, {
    actor,
    action: "account.created",
    account,
    subject: row.id,
    now,
  });
  return accountOf(row);
}

/** The transaction holds the write lock, so no other account can take the same number. */
async function nextNumber(transaction: Transaction<ControlTables>): Promise<number> {
  const query = transaction
    .selectFrom("account")
    .select((select) => select.fn.max("number").as("highest"));
  return ((await query.executeTakeFirst())?.highest ?? 0) + 1;
}

export const columnsOf = ({ minute = null, hour = null, day = null }: Partial<Quotas>) => ({
  per_minute: minute,
  per_hour: hour,
  per_day: day,
});
