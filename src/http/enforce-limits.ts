/** Counts a request against its account's quota, and says on every answer what is left. */
import type { LiveKey } from "#keys/live-key.ts";
import type { Counters, Standing } from "#limits/counters.ts";
import { defaultQuotas, type Quotas } from "#limits/policy.ts";
import { quotaProblem } from "#limits/quota-problem.ts";
import { rateLimitField, rateLimitPolicyField } from "#limits/rate-limit-fields.ts";
import type { HeaderLines } from "./header-lines.ts";

/** One object for each key's own numbers, so that what is made from it can be kept. */
const completed = new WeakMap<LiveKey["quotas"], Quotas>();

function quotasOf({ quotas }: LiveKey): Quotas {
  let whole = completed.get(quotas);
  if (whole === undefined) {
    whole = {
      minute: quotas.minute ?? defaultQuotas.minute,
      hour: quotas.hour ?? defaultQuotas.hour,
      day: quotas.day ?? defaultQuotas.day,
    };
    completed.set(quotas, whole);
  }
  return whole;
}

export interface Counted {
  standing: Standing;
  headers: HeaderLines;
}

export function countRequest(counters: Counters, key: LiveKey): Counted {
  const quotas = quotasOf(key);
  const standing = counters.take(key.accountNumber, quotas);
  const policy = rateLimitPolicyField(quotas);
  return {
    standing,
    headers: ["ratelimit-policy", policy, "ratelimit", rateLimitField(standing)],
  };
}

/** @throws Problem quota-exceeded where the request was not admitted. */
export function refuseOverQuota({ standing }: Counted): void {
  if (!standing.admitted) throw quotaProblem(standing);
}
