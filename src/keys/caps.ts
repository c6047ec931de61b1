/** Limits the keys that the members of an account may make. */
import type { Transaction } from "kysely";
import type { ControlTables } from "#store/control-tables.ts";
import { DomainError } from "#store/domain-error.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { isLive, keyState } from "./keys.ts";

export const liveKeysMax = 10;
export const createdADayMax = 20;

/**
 * Refuses a key beyond either limit. A rotated key no longer counts, even while it works, so that all ten can be rotated.
 * @param order `addsLiveKey` is false for a rotation.
 * @throws DomainError `conflict`.
 */
export async function refuseOverCaps(
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
