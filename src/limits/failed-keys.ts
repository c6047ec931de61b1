/** Counts wrong keys by client network, so that nobody can guess keys by the thousand. */
import { clientNetwork } from "./client-network.ts";
import type { Clock } from "./clocks.ts";
import { type LimitStatus, openKeyedLimit } from "./keyed-limit.ts";

/** Wrong keys that one network may send within a window. */
export const failedKeysQuota = 30;
export const failedKeysWindowSeconds = 60;

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
