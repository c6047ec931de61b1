/** Replaces a key with a new one; the old one stays valid for a stated time. */
import type { Selectable, Transaction } from "kysely";
import { type Actor, operator, writeAudit } from "#store/audit.ts";
import type { ApiKeyTable, ControlTables } from "#store/control-tables.ts";
import { DomainError } from "#store/domain-error.ts";
import { dayMilliseconds, hourMilliseconds } from "#store/durations.ts";
import type { ControlStore } from "#store/stores.ts";
import { insertKey, type IssuedKey, keyState, requireKey } from "./keys.ts";

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
