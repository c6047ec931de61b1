/** Limits how often something may happen for each of many names, such as wrong keys of a network: one sliding window each. */
import { LRUCache } from "lru-cache";
import { clientNetwork } from "./client-network.ts";
import type { Clock } from "./clocks.ts";
import { append, countIn, openLog, type SlidingLog, waitIn } from "./memory-counters.ts";

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

/** Wrong keys that one network may send within a window. */
export const failedKeysQuota = 30;
export const failedKeysWindowSeconds = 60;

/** Counts wrong keys by client network, so that nobody can guess keys by the thousand. */
export interface FailedKeys {
  /** Counts one wrong key from an IP address (without a port), or refuses it and counts nothing. */
  take(address: string): LimitStatus;
  networkCount(): number;
}

/** @param addressesMax maximum number of networks in memory; beyond it, the one that failed longest ago is dropped. */
export function openFailedKeys({
  clock,
  addressesMax = 10_000,
}: {
  clock: Clock;
  addressesMax?: number;
}): FailedKeys {
  const limit = openKeyedLimit<string>({
    clock,
    quota: failedKeysQuota,
    windowSeconds: failedKeysWindowSeconds,
    namesMax: addressesMax,
  });
  return {
    take: (address) => limit.take(clientNetwork(address)),
    networkCount: limit.nameCount,
  };
}
