/**
 * Quota problems: 429 for a request beyond a quota or limit, with the time to wait; 503 for one that was not counted.
 */
import { Problem, unavailable } from "#problems.ts";
import type { QuotaStatus, WindowStatus } from "./counters.ts";
import type { LimitStatus } from "./keyed-limit.ts";

/** Returns the problem for a request that the counters refused. @param requests number of requests it counts as. */
export function quotaProblem(quotaStatus: QuotaStatus, requests = 1): Problem {
  return new Problem("quota-exceeded", quotaDetail(quotaStatus, requests), {
    "violated-policies": quotaStatus.violated,
    retry_after: quotaStatus.retryAfterSeconds,
    policies: quotaStatus.windows.map((window) => ({
      name: window.name,
      quota: window.quota,
      window: window.windowSeconds,
      remaining: window.remaining,
      reset: window.resetSeconds,
    })),
  });
}

export const notCountedProblem = (): Problem =>
  unavailable("store_down", "The request could not be counted, so it was refused. Try again soon.");

/**
 * Returns the problem for an event that a limit refused. The limit's window must be a minute, because the text says so.
 * @param counted words for the events, such as "wrong keys came from your address".
 */
export const limitProblem = (counted: string, { policy, retryAfterSeconds }: LimitStatus) =>
  new Problem(
    "quota-exceeded",
    `${policy.quota} ${counted} within a minute. ${tryAgain(retryAfterSeconds)}`,
    {
      "violated-policies": [policy.name],
      retry_after: retryAfterSeconds,
      policies: [{ ...policy, remaining: 0, reset: retryAfterSeconds }],
    },
  );

/** Returns the sentences of a refusal. They name the window with the longest wait. */
function quotaDetail({ windows, retryAfterSeconds }: QuotaStatus, requests: number): string {
  const deciding = windows.find((window) => window.waitSeconds === retryAfterSeconds)!;
  const again = tryAgain(retryAfterSeconds);
  return requests === 1
    ? `${allUsed(deciding)} ${again}`
    : `This request counts as ${grouped(requests)} requests, but ${left(deciding)} ${again}`;
}

const left = ({ quota, remaining, name }: WindowStatus) =>
  `only ${grouped(remaining)} of the ${grouped(quota)} allowed per ${name} ${remaining === 1 ? "is" : "are"} left.`;

function allUsed({ quota, name }: WindowStatus): string {
  if (quota === 1) return `The one request allowed per ${name} has been used.`;
  return `All ${grouped(quota)} requests of this ${name} are used.`;
}

function tryAgain(seconds: number): string {
  return seconds === 1 ? "Try again in 1 second." : `Try again in ${grouped(seconds)} seconds.`;
}

/** Returns a whole number with commas. Intl would take 30 µs, and refused clients often ask again at once. */
const grouped = (number: number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
