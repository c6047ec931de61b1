/** Actions of members on the keys of their own accounts, within limits. Keys of other accounts are out of reach. */
import type { Selectable, Transaction } from "kysely";
import { requireMember } from "#accounts/members.ts";
import { writeAudit } from "#store/audit.ts";
import { cleanName } from "#accounts/accounts.ts";
import type { ApiKeyTable, ControlTables } from "#store/control-tables.ts";
import { DomainError } from "#store/domain-error.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { makeToken } from "#store/random-text.ts";
import type { ControlStore } from "#store/stores.ts";
import {
  type IssuedKey,
  issueIn,
  type ListedKey,
  listKeys,
  revokeIn,
  isLive,
  keyState,
  overlaps,
  rotateIn,
  type Rotation,
} from "./keys.ts";

/** Returns a one-time value for a form that makes a key. */
export const newForm = makeToken;

/** A person, and one of their accounts. */
export interface OwnKeys {
  account: { number: number; id: string };
  /** Id. */
  person: string;
  now: number;
}

/** The key made when the form was first submitted. It cannot be shown a second time. */
interface Repeated {
  repeatedId: string;
}

/**
 * Creates a key for a member.
 * @param order `form` is the one-time value of the form, so that a reload makes no second key.
 * @throws DomainError `conflict` at a limit, `invalid` if name or end cannot be used, `refused` if the person is no member.
 */
export async function createOwnKey(
  control: ControlStore,
  order: OwnKeys & { name: string; expiresAt: number | null; form: string },
): Promise<{ issued: IssuedKey } | Repeated> {
  const { account, person, name, expiresAt, form, now } = order;
  if (expiresAt !== null && expiresAt <= now)
    throw new DomainError("invalid", "The end of the key must lie in the future.");
  return control.write(async (transaction) => {
    await requireMember(transaction, account.number, person);
    const repeated = await madeBefore(transaction, account.number, form);
    if (repeated !== undefined) return { repeatedId: repeated };
    await refuseOverCaps(transaction, { account: account.number, addsLiveKey: true, now });
    const keyOrder = { account, name, expiresAt, actor: person, form, now };
    return { issued: await issueIn(transaction, keyOrder) };
  });
}

/**
 * Rotates a key for a member.
 * @param order `overlapMilliseconds` is one of `overlaps`.
 * @throws DomainError `not_found` if the account has no key with this id, `conflict` if the key has ended, was rotated
 *   already, or the day's limit is reached, `invalid` if the overlap is another.
 */
export async function rotateOwnKey(
  control: ControlStore,
  order: OwnKeys & { id: string; overlapMilliseconds: number; form: string },
): Promise<{ rotation: Rotation } | Repeated> {
  const { account, person: actor, overlapMilliseconds, form, now } = order;
  if (!overlaps.some(({ milliseconds }) => milliseconds === overlapMilliseconds)) {
    const choices = overlaps.map(({ words }) => words).join(", ");
    throw new DomainError("invalid", `Choose when the replaced key ends: ${choices}.`);
  }
  return withOwnKey(control, order, async (transaction, { id }) => {
    const repeated = await madeBefore(transaction, account.number, form);
    if (repeated !== undefined) return { repeatedId: repeated };
    await refuseOverCaps(transaction, { account: account.number, addsLiveKey: false, now });
    return {
      rotation: await rotateIn(transaction, { id, overlapMilliseconds, actor, form, now }),
    };
  });
}

/** Renames a key. @throws DomainError `not_found`, or `invalid` if the name cannot be used. */
export async function renameOwnKey(
  control: ControlStore,
  order: OwnKeys & { id: string; name: string },
): Promise<void> {
  const name = cleanName("key", order.name);
  const { account, person: actor, now } = order;
  await withOwnKey(control, order, async (transaction, { id }) => {
    await transaction.updateTable("api_key").set({ name }).where("id", "=", id).execute();
    const entry = { actor, account: account.number, subject: id, now };
    await writeAudit(transaction, { ...entry, action: "key.renamed" });
  });
}

/** Revokes a key. @returns the time of its first revocation. @throws DomainError `not_found`. */
export const revokeOwnKey = (
  control: ControlStore,
  order: OwnKeys & { id: string },
): Promise<string> =>
  withOwnKey(control, order, (transaction, { id }) =>
    revokeIn(transaction, { id, actor: order.person, now: order.now }),
  );

/** Returns a key of the account. @throws DomainError `not_found`. */
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
 * Does work on a key of the account. A key of another account counts as missing, but the attempt goes into the audit
 * log, so the error is thrown after the transaction.
 */
async function withOwnKey<R>(
  control: ControlStore,
  { account, person, id, now }: OwnKeys & { id: string },
  work: (transaction: Transaction<ControlTables>, key: Selectable<ApiKeyTable>) => Promise<R>,
): Promise<R> {
  const outcome = await control.write(async (transaction) => {
    await requireMember(transaction, account.number, person);
    const query = transaction.selectFrom("api_key").selectAll().where("id", "=", id);
    const key = await query.executeTakeFirst();
    if (key?.account === account.number) return { done: await work(transaction, key) };
    if (key === undefined) return null;
    const entry = { actor: person, account: account.number, subject: id, now };
    await writeAudit(transaction, { ...entry, action: "key.foreign" });
    return null;
  });
  if (outcome === null) throw new DomainError("not_found", "The account has no such key.");
  return outcome.done;
}

async function madeBefore(
  transaction: Transaction<ControlTables>,
  account: number,
  form: string,
): Promise<string | undefined> {
  const row = await transaction
    .selectFrom("api_key")
    .select("id")
    .where("account", "=", account)
    .where("form", "=", form)
    .executeTakeFirst();
  return row?.id;
}

/** Limits on the keys that the members of an account may make: those that work, and those made within 24 hours. */
export const liveKeysMax = 10;
export const createdADayMax = 20;

/**
 * Refuses a key beyond either limit. A rotated key no longer counts, even while it works, so that all ten can be rotated.
 * @param order `addsLiveKey` is false for a rotation.
 * @throws DomainError `conflict`.
 */
async function refuseOverCaps(
  transaction: Transaction<ControlTables>,
  { account, addsLiveKey, now }: { account: number; addsLiveKey: boolean; now: number },
): Promise<void> {
  const keys = await transaction
    .selectFrom("api_key")
    .select(["created_at", "expires_at", "revoked_at", "replaced_by", "made_by"])
    .where("account", "=", account)
    .execute();
  const live = keys.filter(
    (key) => key.replaced_by === null && isLive({ state: keyState(key, now) }),
  );
  if (addsLiveKey && live.length >= liveKeysMax)
    throw new DomainError(
      "conflict",
      `The account has ${live.length} working keys; the limit is ${liveKeysMax}. Revoke one that nobody uses.`,
    );
  const today = keys.filter(
    (key) => key.made_by !== null && Date.parse(key.created_at) > now - dayMilliseconds,
  );
  if (today.length >= createdADayMax)
    throw new DomainError(
      "conflict",
      `${today.length} keys were made within 24 hours; the limit is ${createdADayMax}. Try again tomorrow.`,
    );
}
