/** Accounts, which own keys and which the quota is counted by. Times are milliseconds going in, ISO text coming out. */
import type { Transaction } from "kysely";
import type { AccountTable, ControlTables, Quotas } from "#store/control-tables.ts";
import { cleanName } from "#store/names.ts";
import { makeId } from "#store/random-text.ts";
import { StoreFault } from "#store/store-fault.ts";
import type { ControlStore } from "#store/stores.ts";
import { type Account, accountOf, findAccount, foldName, requireAccount } from "./find-account.ts";
import { checkQuotas } from "./quotas.ts";

const idPattern = /^ac_[0-9a-z]{16}$/i;

/** @throws StoreFault `invalid` for a name or quota that cannot be used, `conflict` for a name that is taken. */
export async function createAccount(
  control: ControlStore,
  { name, quotas, now }: { name: string; quotas: Partial<Quotas>; now: number },
): Promise<Account> {
  const cleaned = cleanName("account", name);
  if (idPattern.test(cleaned))
    throw new StoreFault(
      "invalid",
      "The name of the account must not look like an id (ac_ and 16 characters).",
    );
  checkQuotas(quotas);
  return control.write(async (transaction) => {
    const holder = await findAccount(transaction, cleaned);
    if (holder !== undefined)
      throw new StoreFault(
        "conflict",
        `The name '${cleaned}' is taken by the account ${holder.id}. Choose another one.`,
      );
    const row = {
      number: await nextNumber(transaction),
      id: makeId("ac"),
      name: cleaned,
      name_folded: foldName(cleaned),
      ...columnsOf(quotas),
      suspended_at: null,
      created_at: new Date(now).toISOString(),
    };
    return accountOf(
      await transaction.insertInto("account").values(row).returningAll().executeTakeFirstOrThrow(),
    );
  });
}

/** All accounts by name. */
export async function listAccounts(control: ControlStore): Promise<Account[]> {
  const rows = await control.database
    .selectFrom("account")
    .selectAll()
    .orderBy("name_folded")
    .execute();
  return rows.map(accountOf);
}

/**
 * Sets the quotas that are given; null goes back to the service's default, a window left out stays as it is.
 * @throws StoreFault `not_found`, or `invalid` for a quota that cannot be used.
 */
export async function setQuotas(
  control: ControlStore,
  idOrName: string,
  quotas: Partial<Quotas>,
): Promise<Account> {
  checkQuotas(quotas);
  return control.write(async (transaction) => {
    const { id, quotas: present } = await requireAccount(transaction, idOrName);
    return update(transaction, id, columnsOf({ ...present, ...quotas }));
  });
}

/** Refuses all keys of the account from the next request on. A second suspension keeps the time of the first. */
export function suspendAccount(
  control: ControlStore,
  idOrName: string,
  now: number,
): Promise<Account> {
  return control.write(async (transaction) => {
    const { id, suspendedAt } = await requireAccount(transaction, idOrName);
    return update(transaction, id, { suspended_at: suspendedAt ?? new Date(now).toISOString() });
  });
}

export function resumeAccount(control: ControlStore, idOrName: string): Promise<Account> {
  return control.write(async (transaction) => {
    const { id } = await requireAccount(transaction, idOrName);
    return update(transaction, id, { suspended_at: null });
  });
}

async function update(
  transaction: Transaction<ControlTables>,
  id: string,
  columns: Partial<AccountTable>,
): Promise<Account> {
  const query = transaction.updateTable("account").set(columns).where("id", "=", id).returningAll();
  return accountOf(await query.executeTakeFirstOrThrow());
}

/** The transaction holds the write lock, so no other account can take the same number. */
async function nextNumber(transaction: Transaction<ControlTables>): Promise<number> {
  const query = transaction
    .selectFrom("account")
    .select((select) => select.fn.max("number").as("highest"));
  return ((await query.executeTakeFirst())?.highest ?? 0) + 1;
}

const columnsOf = ({ minute = null, hour = null, day = null }: Partial<Quotas>) => ({
  per_minute: minute,
  per_hour: hour,
  per_day: day,
});
