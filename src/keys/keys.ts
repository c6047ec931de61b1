/**
 * Issues, lists, renames, rotates and revokes keys in the control store: for commands, and within limits for members.
 * Members cannot reach other accounts' keys. Takes times in ms since 1970, and returns them as ISO text.
 */
import { requireOpenNumber, cleanName } from "#accounts/accounts.ts";
import { requireMember } from "#accounts/members.ts";
import { echo } from "#problems.ts";
import { type Actor, operator, service, writeAudit } from "#store/audit.ts";
import type { ApiKeyTable, ControlTransaction } from "#store/control-tables.ts";
import { DomainError } from "#store/store-fault.ts";
import { dayMilliseconds, hourMilliseconds } from "#store/durations.ts";
import { makeId } from "#store/random-text.ts";
import type { ControlStore } from "#store/stores.ts";
import { exactTime } from "#words.ts";
import { digestKey, hintOf, makeKey } from "./api-key.ts";

/** A key just issued, with its whole text, which is stored nowhere. Show it once, then forget it. */
export type IssuedKey = Awaited<ReturnType<typeof insertKey>>;

export interface KeyOrder {
  account: { number: number; id: string };
  name: string;
  /** Expiry in ms since 1970; null if the key does not expire. */
  expiresAt: number | null;
  isDemo?: boolean;
  actor?: Actor;
  /** One-time value of the submitted form; null for a command. */
  form?: string | null;
  now: number;
}

/** Issues a key. @throws DomainError `invalid` if the name cannot be used, `conflict` if the account is closed. */
export function issueKey(control: ControlStore, order: KeyOrder): Promise<IssuedKey> {
  return control.write((transaction) => issueIn(transaction, order));
}

async function issueIn(transaction: ControlTransaction, order: KeyOrder): Promise<IssuedKey> {
  const { account, actor = operator, now } = order;
  await requireOpenNumber(transaction, account.number);
  const issued = await insertKey(transaction, order);
  const entry = { actor, account: account.number, subject: issued.id, now };
  await writeAudit(transaction, "key.created", entry);
  return issued;
}

/** Inserts a key's row, but no audit entry. @returns the key, with the id of its account. */
async function insertKey(
  transaction: ControlTransaction,
  { account, name, expiresAt, isDemo = false, actor = operator, form = null, now }: KeyOrder,
) {
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

/** Lists all keys, those of one account, or the key with this digest. Sorts them by account name, then oldest first. */
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
    /** Id of the person who created the key; null if a command or the service did. */
    madeBy: row.made_by,
  }));
}

/**
 * Revokes a key for good. The row stays, so that a client that still sends the key is told when it was revoked.
 * @returns the time of the key's first revocation; a second one changes nothing.
 * @throws DomainError `not_found` if no key has the id.
 */
export function revokeKey(
  control: ControlStore,
  id: string,
  now: number,
  actor: Actor = operator,
): Promise<string> {
  return control.write(async (transaction) =>
    revokeIn(transaction, await requireKey(transaction, id), { actor, now }),
  );
}

async function revokeIn(
  transaction: ControlTransaction,
  { id, account, revoked_at: before }: ApiKeyTable,
  { actor, now }: { actor: Actor; now: number },
): Promise<string> {
  if (before !== null) return before;
  const revoked_at = new Date(now).toISOString();
  await transaction.updateTable("api_key").set({ revoked_at }).where("id", "=", id).execute();
  await writeAudit(transaction, "key.revoked", { actor, account, subject: id, now });
  return revoked_at;
}

const findKey = (transaction: ControlTransaction, id: string) =>
  transaction.selectFrom("api_key").selectAll().where("id", "=", id).executeTakeFirst();

/** Returns the row of a key. @throws DomainError `not_found` if there is none. */
async function requireKey(transaction: ControlTransaction, id: string): Promise<ApiKeyTable> {
  const row = await findKey(transaction, id);
  if (row !== undefined) return row;
  throw new DomainError(
    "not_found",
    `No key has the id '${echo(id)}'. An id begins with key_; \`gp-records keys list\` shows them all.`,
  );
}

type KeyState = "active" | "expiring" | "expired" | "revoked" | "suspended";

const expiringMilliseconds = 14 * dayMilliseconds;

type KeyFacts = Pick<ApiKeyTable, "expires_at" | "revoked_at"> & {
  /** Time at which the account was suspended or closed; omitted if only the key itself matters. */
  suspended_at?: string | null;
};

/**
 * Returns the most important state of a key. Final states take precedence. An `expiring` key has at most 14 days left.
 * A key is already expired at the time `expires_at` itself.
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

export const isLive = ({ state }: { state: KeyState }): boolean =>
  state !== "revoked" && state !== "expired";

/** Times after which a replaced key stops working, as the account pages offer them. */
export const overlaps = [
  { milliseconds: 0, words: "at once" },
  { milliseconds: hourMilliseconds, words: "in 1 hour" },
  { milliseconds: dayMilliseconds, words: "in 24 hours" },
  { milliseconds: 7 * dayMilliseconds, words: "in 7 days" },
] as const;

export const overlapDefault = dayMilliseconds;

type Rotation = Awaited<ReturnType<typeof rotateIn>>;

interface RotationOrder extends Pick<KeyOrder, "actor" | "form" | "now"> {
  /** Time for which the old key still works, in ms; 0 to end it at once. */
  overlapMilliseconds: number;
}

/**
 * Replaces a key with a new one of the same name, account and lifetime. The old key ends after the overlap, or at its
 * own expiry if that is sooner.
 * @throws DomainError `not_found` if no key has the id, `conflict` if the key is revoked, expired or already rotated.
 */
export function rotateKey(
  control: ControlStore,
  { id, ...order }: RotationOrder & { id: string },
): Promise<Rotation> {
  return control.write(async (transaction) =>
    rotateIn(transaction, await requireKey(transaction, id), order),
  );
}

async function rotateIn(
  transaction: ControlTransaction,
  old: ApiKeyTable,
  { overlapMilliseconds, actor = operator, form = null, now }: RotationOrder,
) {
  refuseEnded(old, now);
  const account = await transaction
    .selectFrom("account")
    .select(["number", "id"])
    .where("number", "=", old.account)
    .executeTakeFirstOrThrow();
  // A rotated key cannot be rotated again, so this is still its original expiry.
  const oldEnd = old.expires_at;
  const issued = await insertKey(transaction, {
    account,
    name: old.name,
    expiresAt: oldEnd === null ? null : now + Date.parse(oldEnd) - Date.parse(old.created_at),
    isDemo: old.is_demo === 1,
    actor,
    form,
    now,
  });
  const overlapEnd = now + overlapMilliseconds;
  // Compared as numbers, because the text of a time after the year 9999 sorts before all others.
  const isSooner = oldEnd !== null && Date.parse(oldEnd) < overlapEnd;
  const oldExpiresAt = isSooner ? oldEnd : new Date(overlapEnd).toISOString();
  await transaction
    .updateTable("api_key")
    .set({ expires_at: oldExpiresAt, replaced_by: issued.id })
    .where("id", "=", old.id)
    .execute();
  const detail = { replaced_by: issued.id, expires_at: oldExpiresAt };
  const entry = { actor, account: old.account, subject: old.id, detail, now };
  await writeAudit(transaction, "key.rotated", entry);
  return { issued, oldExpiresAt };
}

function refuseEnded(old: ApiKeyTable, now: number): void {
  const refuse = (reason: string) => {
    throw new DomainError("conflict", `The key '${old.id}' ${reason}`);
  };
  const another = "Create a new key instead.";
  const state = keyState(old, now);
  if (state === "revoked") refuse(`was revoked at ${exactTime(old.revoked_at!)}. ${another}`);
  if (old.replaced_by !== null)
    refuse(`has already been rotated. Rotate '${old.replaced_by}', which replaced it.`);
  if (state === "expired") refuse(`expired at ${exactTime(old.expires_at!)}. ${another}`);
}

/** A person, one of their accounts, and the time in ms since 1970, for work on the account's keys. */
export interface OwnKeys {
  account: { number: number; id: string };
  /** Id of the person. */
  person: string;
  now: number;
}

/** Id of the key created when the form was first submitted. The key cannot be shown again. */
type Repeated = { repeatedId: string };

/**
 * Creates a key for a member.
 * @param order `expiresAt` is null for no expiry. `form` is the form's one-time value: a reload makes no second key.
 * @throws DomainError `conflict` at a limit, `invalid` if the name cannot be used, `refused` if the person is not a
 *   member.
 */
export function createOwnKey(
  control: ControlStore,
  order: OwnKeys & { name: string; expiresAt: number | null; form: string },
): Promise<IssuedKey | Repeated> {
  const { account, person: actor } = order;
  return control.write(async (transaction) => {
    await requireMember(transaction, account.number, actor);
    const repeated = await madeBefore(transaction, order, true);
    return repeated ?? issueIn(transaction, { ...order, actor });
  });
}

/**
 * Rotates a key for a member.
 * @param order `overlapMilliseconds` is one of `overlaps`. `form` is the one-time value of the form.
 * @throws DomainError `not_found` if the account has no key with this id; `conflict` if the key has ended, was already
 *   rotated, or the day's limit is reached; `invalid` if the overlap is not in `overlaps`; `refused` if the person is
 *   not a member.
 */
export async function rotateOwnKey(
  control: ControlStore,
  order: OwnKeys & { id: string; overlapMilliseconds: number; form: string },
): Promise<Rotation | Repeated> {
  if (!overlaps.some(({ milliseconds }) => milliseconds === order.overlapMilliseconds)) {
    const choices = new Intl.ListFormat("en-GB", { type: "disjunction" }).format(
      overlaps.map(({ words }) => words),
    );
    throw new DomainError("invalid", `Choose when the old key stops working: ${choices}.`);
  }
  return withOwnKey(control, order, async (transaction, old) => {
    const repeated = await madeBefore(transaction, order, false);
    return repeated ?? rotateIn(transaction, old, { ...order, actor: order.person });
  });
}

/** Renames a key. @throws DomainError `invalid` if the name cannot be used, or as `withOwnKey` does. */
export async function renameOwnKey(
  control: ControlStore,
  order: OwnKeys & { id: string; name: string },
): Promise<void> {
  const name = cleanName("key", order.name);
  const { account, person: actor, now } = order;
  await withOwnKey(control, order, async (transaction, { id }) => {
    await transaction.updateTable("api_key").set({ name }).where("id", "=", id).execute();
    const entry = { actor, account: account.number, subject: id, now };
    await writeAudit(transaction, "key.renamed", entry);
  });
}

/** Revokes a key. @returns the time of its first revocation. @throws DomainError as `withOwnKey` does. */
export const revokeOwnKey = (
  control: ControlStore,
  order: OwnKeys & { id: string },
): Promise<string> =>
  withOwnKey(control, order, (transaction, key) =>
    revokeIn(transaction, key, { actor: order.person, now: order.now }),
  );

/** Returns a key of the account. @throws DomainError as `withOwnKey` does. */
export async function findOwnKey(
  control: ControlStore,
  order: OwnKeys & { id: string },
): Promise<ListedKey> {
  await withOwnKey(control, order, async () => {});
  const { account, now } = order;
  const keys = await listKeys(control, { accountNumber: account.number, now });
  return keys.find(({ id }) => id === order.id)!;
}

/**
 * Runs `work` on one of the account's keys. Treats a key of another account as missing, but writes the attempt to the
 * audit log. The error is therefore thrown after the transaction.
 * @throws DomainError `not_found` if the account has no such key, `refused` if the person is not a member.
 */
async function withOwnKey<R>(
  control: ControlStore,
  { account, person, id, now }: OwnKeys & { id: string },
  work: (transaction: ControlTransaction, key: ApiKeyTable) => Promise<R>,
): Promise<R> {
  const outcome = await control.write(async (transaction) => {
    await requireMember(transaction, account.number, person);
    const key = await findKey(transaction, id);
    if (key?.account === account.number) return { done: await work(transaction, key) };
    if (key === undefined) return null;
    const entry = { actor: person, account: account.number, subject: id, now };
    await writeAudit(transaction, "key.foreign", entry);
    return null;
  });
  if (outcome === null)
    throw new DomainError(
      "not_found",
      "The account has no key with this id. Choose one of its keys, or switch to the account that has the key.",
    );
  return outcome.done;
}

/** Maximum number of an account's working keys. A member cannot exceed it, but a command can. */
export const liveKeysMax = 10;
/** Maximum number of keys that members of an account can create within 24 hours, rotations included. */
export const createdADayMax = 20;

/**
 * Returns the id of the key that this form has already created, if any. Otherwise refuses a key beyond either limit. A
 * rotated key no longer counts as working, because its replacement does.
 * @param addsLiveKey false for a rotation, which leaves the number of working keys unchanged.
 * @throws DomainError `conflict` at a limit.
 */
async function madeBefore(
  transaction: ControlTransaction,
  { account, form, now }: OwnKeys & { form: string },
  addsLiveKey: boolean,
): Promise<Repeated | undefined> {
  const keys = await transaction
    .selectFrom("api_key")
    .selectAll()
    .where("account", "=", account.number)
    .execute();
  const made = keys.find((key) => key.form === form);
  if (made !== undefined) return { repeatedId: made.id };
  const live = keys.filter(
    (key) => key.replaced_by === null && isLive({ state: keyState(key, now) }),
  );
  if (addsLiveKey && live.length >= liveKeysMax)
    throw new DomainError(
      "conflict",
      `No key was created: this account has ${live.length} working keys, and the limit is ${liveKeysMax}. Revoke a key that nobody uses, then try again.`,
    );
  const today = keys.filter(
    (key) => key.made_by !== null && Date.parse(key.created_at) > now - dayMilliseconds,
  );
  if (today.length >= createdADayMax) {
    const made = today.map((key) => Date.parse(key.created_at)).toSorted((a, b) => a - b);
    const free = new Date(made.at(-createdADayMax)! + dayMilliseconds).toISOString();
    throw new DomainError(
      "conflict",
      `No key was created: members of this account created ${today.length} keys in the last 24 hours, and the limit is ${createdADayMax}. The next key can be created after ${exactTime(free)}.`,
    );
  }
  return undefined;
}
