/** Adds up the requests of a batch by hour, account, key, operation and status. */
import { hourMilliseconds } from "#store/durations.ts";
import type { UsageHourTable } from "#store/usage-tables.ts";
import type { ChunkRequest } from "./request-chunk.ts";
import { hourOf } from "./time.ts";

interface HourSums {
  add(request: ChunkRequest): void;
  /** Returns the sums in the order of the table's key, so that instances never wait for each other in a circle. */
  rows(): readonly UsageHourTable[];
}

interface Sum {
  hour: number;
  account: number;
  key: number;
  operation: number;
  status: number;
  requests: number;
  bytes: number;
  hundredths: number;
}

/** @param words words of the chunk. */
export function openHourSums(words: readonly string[]): HourSums {
  const all = new Map<string, Sum>();
  return {
    add({ at, account, key, operation, status, bytes, hundredths }) {
      const hour = Math.floor(at / hourMilliseconds);
      const name = `${hour} ${account} ${key} ${operation} ${status}`;
      let sum = all.get(name);
      if (sum === undefined) {
        sum = { hour, account, key, operation, status, requests: 0, bytes: 0, hundredths: 0 };
        all.set(name, sum);
      }
      sum.requests++;
      sum.bytes += bytes;
      sum.hundredths += hundredths;
    },
    rows: () =>
      [...all.values()]
        .map(({ hour, key, operation, hundredths, ...sum }) => ({
          ...sum,
          hour: hourOf(hour * hourMilliseconds),
          key: words[key]!,
          operation: words[operation]!,
          milliseconds: hundredths / 100,
        }))
        .toSorted(inOrder),
  };
}

const inOrder = (one: UsageHourTable, other: UsageHourTable): number =>
  one.account - other.account ||
  compare(one.hour, other.hour) ||
  compare(one.key, other.key) ||
  compare(one.operation, other.operation) ||
  one.status - other.status;

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
