/** Limits one person's requests to the account pages, across all their accounts. */
import { type KeyedPolicy, openKeyedLimit } from "#limits/keyed-limit.ts";

const minute: KeyedPolicy = { name: "minute", quota: 120, window: 60 };
const day: KeyedPolicy = { name: "day", quota: 2000, window: 86_400 };

/** Kinds of requests: for viewing a page, for sending a form, and by a page's script. */
export type PersonRequest = "view" | "form" | "background";

/** The exhausted window with the longest wait. */
export type TooMany = NonNullable<ReturnType<PersonLimiter["take"]>>;

export type PersonLimiter = ReturnType<typeof openPersonLimiter>;

/**
 * Maximum number of people in memory for each kind of request. They usually take 1 or 2 MB in total. If each person has
 * used up every limit, they take 80 MB, because 2,000 views take 16 KiB.
 */
const peopleMax = 5000;

export function openPersonLimiter() {
  // Requests are answered concurrently, so an earlier one may be counted after a later one.
  let latest = 0;
  const clock = { monotonicMicroseconds: () => latest };
  const open = (...policies: KeyedPolicy[]) => openKeyedLimit<string>(policies, clock, peopleMax);
  // Suggestions use up no views, and a person with no views left can still send the form on the page.
  const limits = { view: open(minute, day), form: open(minute), background: open(minute) };
  return {
    /**
     * Counts a person's request, or refuses it without counting it.
     * @param now microseconds on a monotonic clock. @returns null if the request is admitted.
     */
    take(person: string, kind: PersonRequest, now: number) {
      latest = Math.max(latest, now);
      const { admitted, policy, retryAfterSeconds } = limits[kind].take(person);
      return admitted ? null : { name: policy.name, quota: policy.quota, retryAfterSeconds };
    },
  };
}
