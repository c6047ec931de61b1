/** Replaces a key by a new one while the old one stays valid for a stated time. */
import type { Selectable, Transaction } from "kysely";
import { type Actor, operator, writeAudit } from "#store/audit.ts";
import type { ApiKeyTable, ControlTables } from "#store/control-tables.ts";
import { DomainError } from "#store/domain-error.ts";
import type { ControlStore } from "#store/stores.ts";
import { insertKey, type IssuedKey, requireKey } from "./keys.ts";

type KeyRow = Selectable<ApiKeyTable>;

export interface Rotation {
  issued: IssuedKey;
  /** When the old key ends. */
  oldExpiresAt: string;
}

interface RotationOrder {
  id: string;
  /** 0 ends the old key at once. */
  overlapMilliseconds: number;
  actor?: Actor;
  /** The one-time value of the form it was ordered with. */
  form?: string | null;
  now: number;
}

/**
 * Makes a second key of the same name on the same account, and so on the same quota. It is given as long a life as
 * the old one was; the old one ends after the overlap, or when it would have ended anyway if that is sooner.
 * @throws DomainError `not_found`, or `conflict` for a key that is revoked, expired or rotated already.
 */
export function rotateKey(control: ControlStore, order: RotationOrder): Promise<Rotation> {
  return control.write((transaction) => rotateIn(transaction, order));
}

/** Part of a transaction that is under way. */
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

function refuseEnded(old: KeyRow, now: number): void {
  const refuse = (reason: string) => {
    throw new DomainError("conflict", `The key '${old.id}' ${reason}`);
  };
  const another = "Make a new one with `gp-records keys create`.";
  if (old.revoked_at !== null) refuse(`was revoked at ${old.revoked_at}. ${another}`);
  if (old.replaced_by !== null)
    refuse(`was rotated already. Rotate '${old.replaced_by}', which replaced it.`);
  if (old.expires_at !== null && Date.parse(old.expires_at) <= now)
    refuse(`expired at ${old.expires_at}. ${another}`);
}

function accountOf(transaction: Transaction<ControlTables>, key: KeyRow) {
  return transaction
    .selectFrom("account")
    .select(["number", "id"])
    .where("number", "=", key.account)
    .executeTakeFirstOrThrow();
}

// A key that was rotated cannot be rotated again, so `expires_at` is still what it was made with.
const lifetimeMilliseconds = (key: KeyRow) =>
  Date.parse(key.expires_at!) - Date.parse(key.created_at);

/** ISO text of one length in UTC sorts like the times it stands for. */
const earlier = (one: string | null, other: string) => (one !== null && one < other ? one : other);
