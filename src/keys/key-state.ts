/** What state a stored key is in at a moment. */

export type KeyState = "active" | "expiring" | "expired" | "revoked" | "suspended";

const expiringMilliseconds = 14 * 86_400_000;

interface KeyFacts {
  expires_at: string | null;
  revoked_at: string | null;
  /** Of its account. */
  suspended_at: string | null;
}

/**
 * The one state that matters most: what no longer changes comes first.
 * `expiring` has 14 days or less to live; a key is expired from the very moment in `expires_at`.
 */
export function keyState(facts: KeyFacts, now: number): KeyState {
  const expiresAt =
    facts.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(facts.expires_at);
  if (facts.revoked_at !== null) return "revoked";
  if (now >= expiresAt) return "expired";
  if (facts.suspended_at !== null) return "suspended";
  return expiresAt - now <= expiringMilliseconds ? "expiring" : "active";
}
