/** Requests added up by hour, account, key, operation and status. */
import type { UsageHourTable } from "#store/usage-tables.ts";
import type { RecordedRequest } from "./request-chunk.ts";

const hourMilliseconds = 3_600_000;

/** The hour of a time, such as `2026-11-21T09`. */
export const hourText = (milliseconds: number) => new Date(milliseconds).toISOString().slice(0, 13);

export function sumHours(requests: readonly RecordedRequest[]): Iterable<UsageHourTable> {
  const sums = new Map<string, UsageHourTable>();
  let hourNumber = Number.NaN;
  let hour = "";
  for (const { at, account, key, operation, status, bytes, milliseconds } of requests) {
    const number = Math.floor(at / hourMilliseconds);
    if (number !== hourNumber) {
      hourNumber = number;
      hour = hourText(at);
    }
    const name = `${hour} ${account} ${key} ${operation} ${status}`;
    let sum = sums.get(name);
    if (sum === undefined) {
      sum = { account, hour, key, operation, status, requests: 0, bytes: 0, milliseconds: 0 };
      sums.set(name, sum);
    }
    sum.requests++;
    sum.bytes += bytes;
    sum.milliseconds += milliseconds;
  }
  return sums.values();
}
