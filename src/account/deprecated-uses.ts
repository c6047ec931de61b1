/** What an account still uses of what is deprecated, as its usage of the last 30 days tells. */
import { type Deprecation, endOf, namesOfUse } from "#operations/deprecations.ts";
import { dayMilliseconds } from "#store/durations.ts";
import type { UsageStore } from "#store/stores.ts";
import { readTotalsByOperation } from "#usage/totals.ts";

interface DeprecatedUse {
  deprecation: Deprecation;
  /** In the last 30 days. */
  requests: number;
}

const spanMilliseconds = 30 * dayMilliseconds;

/** The soonest end first; reads nothing where nothing is deprecated. @param now milliseconds since 1970. */
export async function readDeprecatedUses(
  { usage, deprecations }: { usage: UsageStore; deprecations: readonly Deprecation[] },
  account: number,
  now: number,
): Promise<DeprecatedUse[]> {
  if (deprecations.length === 0) return [];
  const span = { account, since: now - spanMilliseconds, until: now };
  const requestsOf = new Map(
    (await readTotalsByOperation(usage, span)).map(({ operation, totals }) => [
      operation,
      totals.requests,
    ]),
  );
  return deprecations
    .map((deprecation) => ({
      deprecation,
      requests: namesOfUse(deprecation).reduce((sum, name) => sum + (requestsOf.get(name) ?? 0), 0),
    }))
    .filter(({ requests }) => requests > 0)
    .toSorted((one, other) => endOf(one.deprecation) - endOf(other.deprecation));
}
