/** Accounts, which own keys and which the quota is counted by. Times are milliseconds going in, ISO text coming out. */
import type { Transaction } from "kysely";
import { type Actor, operator, writeAudit } from "#store/audit.ts";
import type { AccountTable, ControlTables, Quotas } from "#store/control-tables.ts";
import type { ControlStore } from "#store/stores.ts";
import { cleanAccountName, refuseTakenName } from "./account-names.ts";
import {
  type Account,
  accountOf,
  foldName,
  requireOpenAccount,
  requireOpenNumber,
} from "./find-account.ts";
import { requireOwner } from "./membership.ts";
import { type AccountOrder, columnsOf, insertAccount } from "./insert-account.ts";
import { checkQuotas } from "./quotas.ts";

/** @throws StoreFault `invalid` for a name or quota that cannot be used, `conflict` for a name that is taken. */
export async function createAccount(control: ControlStore, order: AccountOrder): Promise<Account> {
  const name = cleanAccountName(order.name);
  checkQuotas(order.quotas);
  return control.write(async (transaction) => {
    await refuseTakenName(transaction, name);
    return insertAccount(transaction, { ...order, name });
  });
}

/** All accounts by name; closed ones only if asked for. */
export async function listAccounts(
  control: ControlStore,
  { withClosed = false }: { withClosed?: boolean } = {},
): Promise<Account[]> {
  let query = control.database.selectFrom("account").selectAll().orderBy("name_folded");
  if (!withClosed) query = query.where("closed_at", "is", null);
  return (await query.execute()).map(accountOf);
}

/**
 * Sets the quotas that are given; null goes back to what the plan says, a window left out stays as it is.
 * @throws StoreFault `not_found`, `conflict` for a closed account, or `invalid` for a quota that cannot be used.
 */
export async function setQuotas(
  control: ControlStore,
  idOrName: string,
  quotas: Partial<Quotas>,
  now: number,
): Promise<Account> {
  checkQuotas(quotas);
  return control.write(async (transaction) => {
    const account = await requireOpenAccount(transaction, idOrName);
    const present = { ...account.quotas, ...quotas };
    const { number, id: subject } = account;
    const action = "account.limits_changed";
    const detail = { former: account.quotas, limits: present };
    await writeAudit(transaction, {
      actor: operator,
      action,
      account: number,
      subject,
      detail,
      now,
    });
    return update(transaction, number, columnsOf(present));
  });
}

/** Refuses all keys of the account from the next request on. A second suspension keeps the time of the first. */
export function suspendAccount(
  control: ControlStore,
  idOrName: string,
  now: number,
): Promise<Account> {
  return control.write(async (transaction) => {
    const account = await requireOpenAccount(transaction, idOrName);
    if (account.suspendedAt !== null) return account;
    const { number, id: subject } = account;
    const action = "account.suspended";
    await writeAudit(transaction, { actor: operator, action, account: number, subject, now });
    return update(transaction, number, { suspended_at: new Date(now).toISOString() });
  });
}

export function resumeAccount(
  control: ControlStore,
  idOrName: string,
  now: number,
): Promise<Account> {
  return control.write(async (transaction) => {
    const account = await requireOpenAccount(transaction, idOrName);
    if (account.suspendedAt === null) return account;
    const { number, id: subject } = account;
    const action = "account.resumed";
    await writeAudit(transaction, { actor: operator, action, account: number, subject, now });
    return update(transaction, number, { suspended_at: null });
  });
}

/** @throws StoreFault `refused` for whoever is no owner, `invalid`, or `conflict` for a name that is taken. */
export async function renameAccount(
  control: ControlStore,
  { account, name, actor, now }: { account: number; name: string; actor: Actor; now: number },
): Promise<Account> {
  const cleaned = cleanAccountName(name);
  return control.write(async (transaction) => {
    await requireOwner(transaction, account, actor);
    const { id: subject } = await requireOpenNumber(transaction, account);
    await refuseTakenName(transaction, cleaned, account);
    await writeAudit(transaction, { actor, action: "account.renamed", account, subject, now });
    return update(transaction, account, { name: cleaned, name_folded: foldName(cleaned) });
  });
}

/** Part of a transaction that is under way. */
export async function update(
  transaction: Transaction<ControlTables>,
  number: number,
  columns: Partial<AccountTable>,
): Promise<Account> {
  const query = transaction.updateTable("account").set(columns).where("number", "=", number);
  return accountOf(await query.returningAll().executeTakeFirstOrThrow());
}
