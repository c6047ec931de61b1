/** The header fields `RateLimit-Policy` and `RateLimit`: draft-ietf-httpapi-ratelimit-headers-11, structured fields. */
import type { QuotaStatus } from "./counters.ts";
import { type Quotas, windows } from "./policy.ts";

const policyFields = new WeakMap<Quotas, string>();

/** The value of `RateLimit-Policy`, made once for each object of quotas. */
export function rateLimitPolicyField(quotas: Quotas): string {
  let field = policyFields.get(quotas);
  if (field === undefined) {
    field = windows
      .map(({ name, seconds }) => `"${name}";q=${quotas[name]};w=${seconds}`)
      .join(", ");
    policyFields.set(quotas, field);
  }
  return field;
}

/** The value of `RateLimit`: what remains, and the seconds until some of it returns. */
export function rateLimitField(quotaStatus: QuotaStatus): string {
  let field = "";
  for (const { name, remaining, resetSeconds } of quotaStatus.windows)
    field += `${field === "" ? "" : ", "}"${name}";r=${remaining};t=${resetSeconds}`;
  return field;
}
