/** Limits how many account pages one person may request, across all their accounts. */
import { type KeyedPolicy, openKeyedLimit } from "#limits/keyed-limit.ts";

const minute: KeyedPolicy = { name: "minute", quota: 120, window: 60 };
const day: KeyedPolicy = { name: "day", quota: 2000, window: 86_400 };

/** Looking at a page, sending a form, and requests made by the script of a page. */
export type PersonRequest = "view" | "form" | "background";

/** Window with the longest wait. */
export interface TooMany extends Pick<KeyedPolicy, "name" | "quota"> {
  /** Whole seconds, rounded up. */
  retryAfterSeconds: number;
}

export type PersonLimiter = ReturnType<typeof openPersonLimiter>;

/**
 * Most people in memory for each kind of request. Together they usually take 1 or 2 MB, and 80 MB if each had used up
 * everything, as 2,000 views take 16 KiB.
 */
const peopleMax = 5000;

export function openPersonLimiter() {
  // Requests are answered concurrently, so one may be counted after a later one.
  let latest = 0;
  const clock = { monotonicMicroseconds: () => latest };
  const open = (...policies: KeyedPolicy[]) => openKeyedLimit<string>(policies, clock, peopleMax);
  // Suggestions use up no pages, and somebody who has looked at too many can still send the form in front of them.
  const limits = { view: open(minute, day), form: open(minute), background: open(minute) };
  return {
    /**
     * Counts a request of the person, or refuses it and counts nothing.
     * @param now µs on a monotonic clock.
     * @returns null if it is admitted.
     */
    take(person: string, kind: PersonRequest, now: number): TooMany | null {
      latest = Math.max(latest, now);
      const { admitted, policy, retryAfterSeconds } = limits[kind].take(person);
      return admitted ? null : { name: policy.name, quota: policy.quota, retryAfterSeconds };
    },
  };
}
