/** Issues, lists, rotates and revokes keys in the control store. Takes times in ms since 1970, and returns them as ISO text. */
import type { Transaction, Selectable } from "kysely";
import { requireOpenNumber, cleanName } from "#accounts/accounts.ts";
import { echo } from "#problems.ts";
import { type Actor, operator, service, writeAudit } from "#store/audit.ts";
import type { ControlTables, ApiKeyTable } from "#store/control-tables.ts";
import { DomainError } from "#store/domain-error.ts";
import { dayMilliseconds, hourMilliseconds } from "#store/durations.ts";
import { makeId } from "#store/random-text.ts";
import type { ControlStore } from "#store/stores.ts";
import { digestKey, hintOf, makeKey } from "./api-key.ts";

/** The only object that ever holds a whole key. Show it once and forget it. */
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
  /** Null if the key does not expire. */
  expiresAt: number | null;
  isDemo?: boolean;
  actor?: Actor;
  /** One-time value of the submitted form. */
  form?: string | null;
  now: number;
}

/** Issues a key. @throws DomainError `invalid` if the name cannot be used, `conflict` if the account is closed. */
export function issueKey(control: ControlStore, order: KeyOrder): Promise<IssuedKey> {
  return control.write((transaction) => issueIn(transaction, order));
}

/** Issues a key inside a transaction. @throws as `issueKey`. */
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

/** Inserts the row alone; the caller writes the audit entry. */
async function insertKey(
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

export type ListedKey = Awaited<ReturnType<typeof listKeys>>[number];

/** Lists the keys of one account, the key with this digest, or all keys: by account, oldest first. */
export async function listKeys(
  control: ControlStore,
  {
    accountNumber,
    digest,
    now,
  }: { accountNumber?: number | undefined; digest?: Uint8Array; now: number },
) {
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
    /** Id of the person who made it; null if a command did. */
    madeBy: row.made_by,
  }));
}

/**
 * Revokes a key for good. The row stays, so that a client that still sends the key is told when it was revoked.
 * @returns the time of its first revocation; a second one changes nothing.
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

/** Revokes a key inside a transaction. @throws as `revokeKey`. */
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

/** Returns the row of a key. @throws DomainError `not_found`. */
async function requireKey(transaction: Transaction<ControlTables>, id: string) {
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

type KeyState = "active" | "expiring" | "expired" | "revoked" | "suspended";

const expiringMilliseconds = 14 * dayMilliseconds;

interface KeyFacts {
  expires_at: string | null;
  revoked_at: string | null;
  /** End of its account; left out if only the key itself is of interest. */
  suspended_at?: string | null;
}

/**
 * Returns the one state that matters most; states that no longer change come first.
 * An `expiring` key has 14 days or less to live. A key is expired from the very moment in `expires_at`.
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

/** Reports whether a key is neither revoked nor expired. */
export const isLive = ({ state }: { state: KeyState }): boolean =>
  state !== "revoked" && state !== "expired";

/** Times for which a replaced key may go on working, as the account pages offer them. */
export const overlaps = [
  { milliseconds: 0, words: "at once" },
  { milliseconds: hourMilliseconds, words: "in 1 hour" },
  { milliseconds: dayMilliseconds, words: "in 24 hours" },
  { milliseconds: 7 * dayMilliseconds, words: "in 7 days" },
] as const;

export const overlapDefault = dayMilliseconds;

export interface Rotation {
  issued: IssuedKey;
  /** End of the old key. */
  oldExpiresAt: string;
}

interface RotationOrder {
  id: string;
  /** 0 ends the old key at once. */
  overlapMilliseconds: number;
  actor?: Actor;
  /** One-time value of the submitted form. */
  form?: string | null;
  now: number;
}

/**
 * Makes a second key with the same name, account and quota. It gets the lifetime that the old one was given. The old one
 * ends after the overlap, or at its own end if that is sooner.
 * @throws DomainError `not_found`, or `conflict` if the key is revoked, expired or rotated already.
 */
export function rotateKey(control: ControlStore, order: RotationOrder): Promise<Rotation> {
  return control.write((transaction) => rotateIn(transaction, order));
}

/** Rotates a key inside a transaction. @throws as `rotateKey`. */
export async function rotateIn(
  transaction: Transaction<ControlTables>,
  { id, overlapMilliseconds, actor = operator, form = null, now }: RotationOrder,
): Promise<Rotation> {
  const old = await requireKey(transaction, id);
  refuseEnded(old, now);
  const issued = await insertKey(transaction, {
    account: await accountOf(transaction, old),
    name: old.name,
    expiresAt: old.expires_at === null ? null : now + lifetimeMilliseconds(old),
    isDemo: old.is_demo === 1,
    actor,
    form,
    now,
  });
  const oldExpiresAt = earlier(old.expires_at, new Date(now + overlapMilliseconds).toISOString());
  await transaction
    .updateTable("api_key")
    .set({ expires_at: oldExpiresAt, replaced_by: issued.id })
    .where("id", "=", id)
    .execute();
  const detail = { replaced_by: issued.id, expires_at: oldExpiresAt };
  const entry = { actor, account: old.account, subject: id, detail, now };
  await writeAudit(transaction, { ...entry, action: "key.rotated" });
  return { issued, oldExpiresAt };
}

function refuseEnded(old: Selectable<ApiKeyTable>, now: number): void {
  const refuse = (reason: string) => {
    throw new DomainError("conflict", `The key '${old.id}' ${reason}`);
  };
  const another = "Make a new one with `gp-records keys create`.";
  const state = keyState(old, now);
  if (state === "revoked") refuse(`was revoked at ${old.revoked_at}. ${another}`);
  if (old.replaced_by !== null)
    refuse(`was rotated already. Rotate '${old.replaced_by}', which replaced it.`);
  if (state === "expired") refuse(`expired at ${old.expires_at}. ${another}`);
}

function accountOf(transaction: Transaction<ControlTables>, key: Selectable<ApiKeyTable>) {
  return transaction
    .selectFrom("account")
    .select(["number", "id"])
    .where("number", "=", key.account)
    .executeTakeFirstOrThrow();
}

// A rotated key cannot be rotated again, so `expires_at` is still the end it was made with.
const lifetimeMilliseconds = (key: Selectable<ApiKeyTable>) =>
  Date.parse(key.expires_at!) - Date.parse(key.created_at);

/** Returns the earlier time. ISO texts of one length in UTC sort like their times. */
const earlier = (one: string | null, other: string) => (one !== null && one < other ? one : other);
