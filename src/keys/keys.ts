/** Issues, lists and revokes keys in the control store. Times are milliseconds since 1970 going in, ISO text coming out. */
import type { Transaction } from "kysely";
import type { ControlTables } from "#store/control-tables.ts";
import { cleanName } from "#store/names.ts";
import { makeId } from "#store/random-text.ts";
import { StoreFault } from "#store/store-fault.ts";
import type { ControlStore } from "#store/stores.ts";
import { echo } from "#problems.ts";
import { digestKey, hintOf, makeKey } from "./api-key.ts";
import { type KeyState, keyState } from "./key-state.ts";

/** The only object that ever holds a whole key: show it once and forget it. */
export interface IssuedKey {
  id: string;
  key: string;
  /** Id of the account. */
  account: string;
  name: string;
  expiresAt: string | null;
}

export interface KeyOrder {
  account: { number: number; id: string };
  name: string;
  /** Null for a key that does not expire. */
  expiresAt: number | null;
  isDemo?: boolean;
  now: number;
}

/** @throws StoreFault `invalid` for a name that cannot be used. */
export function issueKey(control: ControlStore, order: KeyOrder): Promise<IssuedKey> {
  return control.write((transaction) => insertKey(transaction, order));
}

/** Part of a transaction that is under way. */
export async function insertKey(
  transaction: Transaction<ControlTables>,
  { account, name, expiresAt, isDemo = false, now }: KeyOrder,
): Promise<IssuedKey> {
  const key = makeKey();
  const row = {
    id: makeId("key"),
    digest: digestKey(key),
    account: account.number,
    name: cleanName("key", name),
    hint: hintOf(key),
    is_demo: isDemo ? 1 : 0,
    created_at: new Date(now).toISOString(),
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    revoked_at: null,
    replaced_by: null,
  };
  await transaction.insertInto("api_key").values(row).execute();
  return { id: row.id, key, account: account.id, name: row.name, expiresAt: row.expires_at };
}

export interface ListedKey {
  id: string;
  account: string;
  accountName: string;
  name: string;
  hint: string;
  isDemo: boolean;
  state: KeyState;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  replacedBy: string | null;
}

/** Keys of one account or, without `accountNumber`, of all: by account, oldest first. */
export async function listKeys(
  control: ControlStore,
  { accountNumber, now }: { accountNumber?: number | undefined; now: number },
): Promise<ListedKey[]> {
  let query = control.database
    .selectFrom("api_key")
    .innerJoin("account", "account.number", "api_key.account")
    .selectAll("api_key")
    .select(["account.id as account_id", "account.name as account_name", "account.suspended_at"])
    .orderBy("account.name_folded")
    .orderBy("api_key.created_at")
    .orderBy("api_key.id");
  if (accountNumber !== undefined) query = query.where("account.number", "=", accountNumber);
  return (await query.execute()).map((row) => ({
    id: row.id,
    account: row.account_id,
    accountName: row.account_name,
    name: row.name,
    hint: row.hint,
    isDemo: row.is_demo === 1,
    state: keyState(row, now),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    replacedBy: row.replaced_by,
  }));
}

/**
 * Ends a key for good. The row stays, so whoever still sends the key is told when it was revoked.
 * @returns since when it is revoked: a second revocation changes nothing.
 * @throws StoreFault `not_found`.
 */
export function revokeKey(control: ControlStore, id: string, now: number): Promise<string> {
  return control.write(async (transaction) => {
    const row = await requireKey(transaction, id);
    if (row.revoked_at !== null) return row.revoked_at;
    const revokedAt = new Date(now).toISOString();
    await transaction
      .updateTable("api_key")
      .set({ revoked_at: revokedAt })
      .where("id", "=", id)
      .execute();
    return revokedAt;
  });
}

/** @throws StoreFault `not_found`. */
export async function requireKey(transaction: Transaction<ControlTables>, id: string) {
  const row = await transaction
    .selectFrom("api_key")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirst();
  if (row !== undefined) return row;
  throw new StoreFault(
    "not_found",
    `No key has the id '${echo(id)}'. An id begins with key_; \`gp-records keys list\` shows them all.`,
  );
}
