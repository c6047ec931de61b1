/** Which numbers an account's own quota may have: those the limiter can keep count of. */
import { quotaFault } from "#limits/policy.ts";
import type { Quotas } from "#store/control-tables.ts";
import { StoreFault } from "#store/store-fault.ts";

/** @throws StoreFault `invalid` naming the first window whose number cannot be a quota; null is the default. */
export function checkQuotas(quotas: Partial<Quotas>): void {
  for (const [window, requests] of Object.entries(quotas)) {
    const fault = requests === null ? undefined : quotaFault(requests);
    if (fault !== undefined) throw new StoreFault("invalid", `The quota per ${window} ${fault}.`);
  }
}
