/** Limits how often something may happen for each of many names: one exact sliding window each, in memory. */
import { LRUCache } from "lru-cache";
import type { Clock } from "./clocks.ts";
import { append, countIn, openLog, type SlidingLog, waitIn } from "./sliding-log.ts";

export interface LimitStatus {
  readonly admitted: boolean;
  /** Whole seconds, rounded up, until another would be admitted; 0 if this one is. */
  readonly retryAfterSeconds: number;
}

interface KeyedLimit<Name extends string | number> {
  /** Counts one, or refuses it and counts nothing. */
  take(name: Name): LimitStatus;
  /** Names in memory. */
  nameCount(): number;
}

/** @param namesMax maximum number of names in memory; beyond it, the one counted longest ago is dropped. */
export function openKeyedLimit<Name extends string | number>({
  clock,
  quota,
  windowSeconds,
  namesMax,
}: {
  clock: Clock;
  quota: number;
  windowSeconds: number;
  namesMax: number;
}): KeyedLimit<Name> {
  const windows = [windowSeconds * 1e6];
  const logs = new LRUCache<Name, SlidingLog>({ max: namesMax });
  return {
    take(name) {
      let log = logs.get(name);
      if (log === undefined) logs.set(name, (log = openLog(windows)));
      const now = clock.monotonicMicroseconds();
      const admitted = countIn(log, 0, now) < quota;
      if (admitted) append(log, now);
      return {
        admitted,
        retryAfterSeconds: admitted ? 0 : Math.ceil(waitIn(log, 0, quota, now) / 1e6),
      };
    },
    nameCount: () => logs.size,
  };
}
