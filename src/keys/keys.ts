/** Issues, lists and revokes keys in the control store. Times are passed in as milliseconds since 1970 and returned as ISO text. */
import type { Transaction } from "kysely";
import { requireOpenNumber } from "#accounts/accounts.ts";
import { echo } from "#problems.ts";
import { type Actor, operator, service, writeAudit } from "#store/audit.ts";
import { cleanName } from "#store/check-name.ts";
import type { ControlTables } from "#store/control-tables.ts";
import { DomainError } from "#store/domain-error.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { makeId } from "#store/random-text.ts";
import type { ControlStore } from "#store/stores.ts";
import { digestKey, hintOf, makeKey } from "./api-key.ts";

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
  actor?: Actor;
  /** The one-time value of the form that was submitted. */
  form?: string | null;
  now: number;
}

/** @throws DomainError `invalid` for a name that cannot be used, `conflict` for a closed account. */
export function issueKey(control: ControlStore, order: KeyOrder): Promise<IssuedKey> {
  return control.write((transaction) => issueIn(transaction, order));
}

/** The same inside a transaction. */
export async function issueIn(
  transaction: Transaction<ControlTables>,
  order: KeyOrder,
): Promise<IssuedKey> {
  const { account, actor = operator, now } = order;
  await requireOpenNumber(transaction, account.number);
  const issued = await insertKey(transaction, order);
  const entry = { actor, account: account.number, subject: issued.id, now };
  await writeAudit(transaction, { ...entry, action: "key.created" });
  return issued;
}

/** The row alone; the caller writes the audit entry. */
export async function insertKey(
  transaction: Transaction<ControlTables>,
  { account, name, expiresAt, isDemo = false, actor = operator, form = null, now }: KeyOrder,
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
    made_by: actor === operator || actor === service ? null : actor,
    form,
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
  /** Id of the person who made it; null for a command. */
  madeBy: string | null;
}

/** Keys of one account, the one with this digest, or all: by account, oldest first. */
export async function listKeys(
  control: ControlStore,
  {
    accountNumber,
    digest,
    now,
  }: { accountNumber?: number | undefined; digest?: Uint8Array; now: number },
): Promise<ListedKey[]> {
  let query = control.database
    .selectFrom("api_key")
    .innerJoin("account", "account.number", "api_key.account")
    .selectAll("api_key")
    .select(["account.id as account_id", "account.name as account_name"])
    .select(({ fn }) => fn.coalesce("account.closed_at", "account.suspended_at").as("suspended_at"))
    .orderBy("account.name_folded")
    .orderBy("api_key.created_at")
    .orderBy("api_key.id");
  if (accountNumber !== undefined) query = query.where("account.number", "=", accountNumber);
  if (digest !== undefined) query = query.where("api_key.digest", "=", digest);
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
    madeBy: row.made_by,
  }));
}

/**
 * Ends a key for good. The row stays, so whoever still sends the key is told when it was revoked.
 * @returns since when it is revoked: a second revocation changes nothing.
 * @throws DomainError `not_found`.
 */
export function revokeKey(
  control: ControlStore,
  id: string,
  now: number,
  actor: Actor = operator,
): Promise<string> {
  return control.write((transaction) => revokeIn(transaction, { id, actor, now }));
}

/** The same inside a transaction. */
export async function revokeIn(
  transaction: Transaction<ControlTables>,
  { id, actor = operator, now }: { id: string; actor?: Actor; now: number },
): Promise<string> {
  const row = await requireKey(transaction, id);
  if (row.revoked_at !== null) return row.revoked_at;
  const revoked_at = new Date(now).toISOString();
  await transaction.updateTable("api_key").set({ revoked_at }).where("id", "=", id).execute();
  const entry = { actor, account: row.account, subject: id, now };
  await writeAudit(transaction, { ...entry, action: "key.revoked" });
  return revoked_at;
}

/** @throws DomainError `not_found`. */
export async function requireKey(transaction: Transaction<ControlTables>, id: string) {
  const row = await transaction
    .selectFrom("api_key")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirst();
  if (row !== undefined) return row;
  throw new DomainError(
    "not_found",
    `No key has the id '${echo(id)}'. An id begins with key_; \`gp-records keys list\` shows them all.`,
  );
}

export type KeyState = "active" | "expiring" | "expired" | "revoked" | "suspended";

const expiringMilliseconds = 14 * dayMilliseconds;

interface KeyFacts {
  expires_at: string | null;
  revoked_at: string | null;
  /** Of its account; left out where only the key itself is of interest. */
  suspended_at?: string | null;
}

/**
 * The one state that matters most: what no longer changes comes first.
 * `expiring` has 14 days or less to live; a key is expired from the very moment in `expires_at`.
 */
export function keyState(
  { expires_at, revoked_at, suspended_at = null }: KeyFacts,
  now: number,
): KeyState {
  const expiresAt = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at);
  if (revoked_at !== null) return "revoked";
  if (now >= expiresAt) return "expired";
  if (suspended_at !== null) return "suspended";
  return expiresAt - now <= expiringMilliseconds ? "expiring" : "active";
}

/** Neither revoked nor expired. */
export const isLive = ({ state }: { state: KeyState }): boolean =>
  state !== "revoked" && state !== "expired";
