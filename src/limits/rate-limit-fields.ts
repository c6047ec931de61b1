/** The header fields `RateLimit-Policy` and `RateLimit`: draft-ietf-httpapi-ratelimit-headers-11, structured fields. */
import type { Standing } from "./counters.ts";
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

/** Both fields as a flat list of name, value, name, value. */
export const rateLimitFields = (quotas: Quotas, standing: Standing): readonly string[] => [
  "ratelimit-policy",
  rateLimitPolicyField(quotas),
  "ratelimit",
  rateLimitField(standing),
];

/** The value of `RateLimit`: what is left, and the seconds until some of it returns. */
export function rateLimitField(standing: Standing): string {
  let field = "";
  for (const { name, remaining, resetSeconds } of standing.windows)
    field += `${field === "" ? "" : ", "}"${name}";r=${remaining};t=${resetSeconds}`;
  return field;
}
