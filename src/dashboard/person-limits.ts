/** Limits how many account pages one person may request: exact sliding windows in memory, across all their accounts. */
import { append, countIn, openLog, type SlidingLog, waitIn } from "#limits/memory-counters.ts";

/**
 * Limits by kind of request. Each kind is counted separately, so that suggestions use up no pages, and somebody who has looked
 * at too many pages can still send the form in front of them.
 */
const personLimits = {
  /** Looking at a page. */
  view: [
    { name: "minute", seconds: 60, quota: 120 },
    { name: "day", seconds: 86_400, quota: 2000 },
  ],
  /** Sending a form. */
  form: [{ name: "minute", seconds: 60, quota: 120 }],
  /** Requests made by the script of a page. */
  background: [{ name: "minute", seconds: 60, quota: 120 }],
} as const;

export type PersonRequest = keyof typeof personLimits;

/** Window with the longest wait. */
export interface TooMany {
  name: "minute" | "day";
  quota: number;
  /** Whole seconds, rounded up. */
  retryAfterSeconds: number;
}

export interface PersonLimiter {
  /**
   * Counts a request of the person, or refuses it and counts nothing.
   * @param now µs on a monotonic clock.
   * @returns null if it is admitted.
   */
  take(person: string, kind: PersonRequest, now: number): TooMany | null;
}

/**
 * Most logs; beyond them the least recently used one is dropped. Together they usually take 1 or 2 MB, and 80 MB if each were
 * full, as 2,000 views take 16 KiB.
 */
const logsMax = 5000;

export function openPersonLimiter(): PersonLimiter {
  const logs = new Map<string, SlidingLog>();
  // Requests are answered concurrently, so one may be counted after a later one.
  let latest = 0;
  return {
    take(person, kind, now) {
      latest = Math.max(latest, now);
      const name = `${kind} ${person}`;
      const windows = personLimits[kind];
      const log = logs.get(name) ?? openLog(windows.map(({ seconds }) => seconds * 1e6));
      // A map keeps insertion order, so the first is the least recently used.
      logs.delete(name);
      logs.set(name, log);
      if (logs.size > logsMax) logs.delete(logs.keys().next().value!);
      return takeFrom(log, windows, latest);
    },
  };
}

type Windows = (typeof personLimits)[PersonRequest];

function takeFrom(log: SlidingLog, windows: Windows, now: number): TooMany | null {
  const counts = windows.map((_, i) => countIn(log, i, now));
  if (windows.every(({ quota }, i) => counts[i]! < quota)) {
    append(log, now);
    return null;
  }
  const waits = windows.map(({ quota }, i) => waitIn(log, i, quota, now));
  const longest = Math.max(...waits);
  const { name, quota } = windows[waits.indexOf(longest)]!;
  return { name, quota, retryAfterSeconds: Math.ceil(longest / 1e6) };
}
