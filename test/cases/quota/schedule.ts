/** Random quotas and random pauses, small and large. */
import type { Quotas } from "#limits/policy.ts";
import type { Random } from "../../support/limits-random.ts";

export const someQuotas = (random: Random): Quotas => ({
  minute: random.between(1, 4),
  hour: random.between(3, 8),
  day: random.between(6, 12),
});

/** Quarters of a second, which floating-point numbers add without rounding. */
export const someSeconds = (random: Random) =>
  random.pick([0, 0.25, 1, 7.5, 20, 59.75, 60, 600, 3599.75, 80_000]) + random.between(0, 8) / 4;
