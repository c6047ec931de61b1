/** Limits events by name, such as wrong keys by client network, in sliding windows. */
import { LRUCache } from "lru-cache";
import type { Clock } from "./clocks.ts";
import { append, countIn, openLog, type SlidingLog, waitIn } from "./memory-counters.ts";

export interface LimitStatus {
  readonly admitted: boolean;
  /** The policy with the longest wait; the first one if the event is admitted. */
  readonly policy: KeyedPolicy;
  /** Whole seconds, rounded up, until another event would be admitted; 0 if this one is. */
  readonly retryAfterSeconds: number;
}

/** Limit of `quota` events in a window of `window` seconds. Errors state its `name`. */
export interface KeyedPolicy {
  readonly name: "failed-keys" | "mcp-messages" | "minute" | "day";
  readonly quota: number;
  readonly window: number;
}

/** Limit on wrong keys from a client network. */
export const failedKeys: KeyedPolicy = { name: "failed-keys", quota: 30, window: 60 };

/** Limit on an account's messages to `/mcp` that call no tool. They count against no quota. */
export const mcpMessages: KeyedPolicy = { name: "mcp-messages", quota: 120, window: 60 };

export type KeyedLimit<Name extends string | number> = ReturnType<typeof openKeyedLimit<Name>>;

/**
 * Opens limits that count the events of each name separately.
 * @param policies limits, shortest window first.
 * @param namesMax maximum number of names in memory; beyond it, the least recently used name is dropped.
 */
export function openKeyedLimit<Name extends string | number>(
  policies: readonly KeyedPolicy[],
  clock: Pick<Clock, "monotonicMicroseconds">,
  namesMax = 10_000,
) {
  const windows = policies.map(({ window }) => window * 1e6);
  const logs = new LRUCache<Name, SlidingLog>({ max: namesMax });
  return {
    /**
     * Counts an event for a name, or refuses it and counts nothing.
     * @param takeNext counts the event at another limit. Called if this one has room; its refusal is returned.
     */
    take(name: Name, takeNext?: () => LimitStatus): LimitStatus {
      let log = logs.get(name);
      if (log === undefined) logs.set(name, (log = openLog(windows)));
      const now = clock.monotonicMicroseconds();
      const waits = policies.map(({ quota }, i) =>
        countIn(log, i, now) < quota ? 0 : waitIn(log, i, quota, now),
      );
      const longest = Math.max(...waits);
      const admitted = longest === 0;
      const next = admitted ? takeNext?.() : undefined;
      if (next?.admitted === false) return next;
      if (admitted) append(log, now);
      const policy = policies[waits.indexOf(longest)]!;
      return { admitted, policy, retryAfterSeconds: Math.ceil(longest / 1e6) };
    },
    nameCount: () => logs.size,
  };
}
