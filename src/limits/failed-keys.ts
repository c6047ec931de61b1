/** Counts wrong keys by the network they come from, so that keys cannot be guessed by the thousand. */
import { clientNetwork } from "./client-network.ts";
import type { Clock } from "./clocks.ts";
import { type LimitStatus, openKeyedLimit } from "./keyed-limit.ts";

/** Wrong keys one network may send within a window. */
export const failedKeysQuota = 30;
export const failedKeysWindowSeconds = 60;

export interface FailedKeys {
  /** Counts one wrong key from an IP address (without a port), or refuses it and counts nothing. */
  take(address: string): LimitStatus;
  networkCount(): number;
}

/** @param addressesMax networks remembered; the one that failed longest ago is dropped first, which bounds the memory. */
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
