/** What members do with the keys of their own accounts, within caps; keys of other accounts are out of reach. */
import type { Selectable, Transaction } from "kysely";
import { requireMember } from "#accounts/members.ts";
import { writeAudit } from "#store/audit.ts";
import { cleanName } from "#store/check-name.ts";
import type { ApiKeyTable, ControlTables } from "#store/control-tables.ts";
import { DomainError } from "#store/domain-error.ts";
import { makeToken } from "#store/random-text.ts";
import type { ControlStore } from "#store/stores.ts";
import { refuseOverCaps } from "./caps.ts";
import { type IssuedKey, issueIn, type ListedKey, listKeys, revokeIn } from "./keys.ts";
import { overlaps, rotateIn, type Rotation } from "./rotate-key.ts";

/** A one-time value for a form that makes a key. */
export const newForm = makeToken;

/** Who asks, and for which of their accounts. */
export interface OwnKeys {
  account: { number: number; id: string };
  /** Id. */
  person: string;
  now: number;
}

/** The form was submitted before and made this key, which cannot be shown a second time. */
interface Repeated {
  repeatedId: string;
}

/**
 * @param order `form` is the one-time value of the form, so that a reload makes no second key.
 * @throws DomainError `conflict` at a cap, `invalid` for a name or an end that cannot be used, `refused` for whoever is
 *   no member.
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
 * @param order `overlapMilliseconds` one of `overlaps`.
 * @throws DomainError `not_found` for a key of no such id in this account, `conflict` for one that has ended or was
 *   rotated already or at the cap of a day, `invalid` for another overlap.
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

/** @throws DomainError `not_found`, or `invalid` for a name that cannot be used. */
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

/** @returns since when it is revoked. @throws DomainError `not_found`. */
export const revokeOwnKey = (
  control: ControlStore,
  order: OwnKeys & { id: string },
): Promise<string> =>
  withOwnKey(control, order, (transaction, { id }) =>
    revokeIn(transaction, { id, actor: order.person, now: order.now }),
  );

/** @throws DomainError `not_found`. */
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
 * A key of another account is treated as missing, but the attempt goes into the audit log; the error is therefore thrown
 * after the transaction.
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
