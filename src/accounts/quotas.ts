/** Which numbers an account's own quota may have. */
import type { Quotas } from "#store/control-tables.ts";
import { StoreFault } from "#store/store-fault.ts";

/** The largest quota the limiter keeps count of: it remembers every request for a day. */
export const quotaMax = 1_000_000;

/** @throws StoreFault `invalid` naming the first window whose number is not 1 to 1,000,000. */
export function checkQuotas(quotas: Partial<Quotas>): void {
  for (const [window, requests] of Object.entries(quotas))
    if (requests !== null && !isQuota(requests))
      throw new StoreFault(
        "invalid",
        `The quota per ${window} must be a whole number from 1 to ${quotaMax}.`,
      );
}

const isQuota = (requests: number) =>
  Number.isInteger(requests) && requests >= 1 && requests <= quotaMax;
