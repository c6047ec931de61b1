/** Limits how often something may happen for each of many names, such as wrong keys of a network: one sliding window each. */
import { LRUCache } from "lru-cache";
import type { Clock } from "./clocks.ts";
import { append, countIn, openLog, type SlidingLog, waitIn } from "./memory-counters.ts";

export interface LimitStatus {
  readonly admitted: boolean;
  /** Whole seconds, rounded up, until another would be admitted; 0 if this one is. */
  readonly retryAfterSeconds: number;
}

/** A limit as errors name it: `quota` in a window of this many seconds. */
export interface KeyedPolicy {
  readonly name: "failed-keys" | "mcp-messages";
  readonly quota: number;
  readonly window: number;
}

/** Wrong keys of a client network. */
export const failedKeys: KeyedPolicy = { name: "failed-keys", quota: 30, window: 60 };

/** Messages of an account to `/mcp` that call no tool. They count against no quota, but against this limit. */
export const mcpMessages: KeyedPolicy = { name: "mcp-messages", quota: 120, window: 60 };

export interface KeyedLimit<Name extends string | number> {
  /** Counts one, or refuses it and counts nothing. */
  take(name: Name): LimitStatus;
  /** Names in memory. */
  nameCount(): number;
}

/** @param namesMax maximum number of names in memory; beyond it, the one counted longest ago is dropped. */
export function openKeyedLimit<Name extends string | number>(
  { quota, window }: KeyedPolicy,
  clock: Clock,
  namesMax = 10_000,
): KeyedLimit<Name> {
  const windows = [window * 1e6];
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
