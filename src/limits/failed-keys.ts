/** Counts wrong keys by the network they come from, so that keys cannot be guessed by the thousand. */
import { LRUCache } from "lru-cache";
import { clientNetwork } from "./client-network.ts";
import type { Clock } from "./clocks.ts";
import { append, countIn, openLog, type SlidingLog, waitIn } from "./sliding-log.ts";

/** Wrong keys one network may send within a window. */
export const failedKeysQuota = 30;
export const failedKeysWindowSeconds = 60;

export interface FailedKeysStatus {
  readonly admitted: boolean;
  /** Whole seconds, rounded up, until a wrong key would be admitted; 0 if this one is. */
  readonly retryAfterSeconds: number;
}

export interface FailedKeys {
  /** Counts one wrong key from an IP address (without a port), or refuses it and counts nothing. */
  take(address: string): FailedKeysStatus;
  networkCount(): number;
}

const windowMicroseconds = [failedKeysWindowSeconds * 1e6];

/** @param addressesMax networks remembered; the one that failed longest ago is dropped first, which bounds the memory. */
export function openFailedKeys({
  clock,
  addressesMax = 10_000,
}: {
  clock: Clock;
  addressesMax?: number;
}): FailedKeys {
  const logs = new LRUCache<string, SlidingLog>({ max: addressesMax });
  return {
    take(address) {
      const network = clientNetwork(address);
      let log = logs.get(network);
      if (log === undefined) logs.set(network, (log = openLog(windowMicroseconds)));
      return takeFailure(log, clock.monotonicMicroseconds());
    },
    networkCount: () => logs.size,
  };
}

function takeFailure(log: SlidingLog, now: number): FailedKeysStatus {
  const admitted = countIn(log, 0, now) < failedKeysQuota;
  if (admitted) append(log, now);
  return {
    admitted,
    retryAfterSeconds: admitted ? 0 : Math.ceil(waitIn(log, 0, failedKeysQuota, now) / 1e6),
  };
}
