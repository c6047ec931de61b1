/** Removes what has been kept long enough, a little at a time, so that what is to be written never waits for long. */
import type { DatabaseSync } from "node:sqlite";
import { hourText } from "./hour-sums.ts";

/** How much of the request log is kept. */
export interface Retention {
  /** 0 for no request log. */
  logDays: number;
  logRowsMax: number;
}

const dayMilliseconds = 86_400_000;
/** So long the sums of each hour are kept. */
export const hoursKeptDays = 400;
const rowsPerStep = 2000;

/**
 * @returns a function that removes at most 2,000 requests or the sums of one hour, and tells whether it removed any.
 *   `now` is milliseconds since 1970. It throws what node:sqlite throws.
 */
export function openRetention(
  connection: DatabaseSync,
  { logDays, logRowsMax }: Retention,
): (now: number) => boolean {
  const logEnds = connection.prepare(
    "select (select min(number) from request_log) as oldest, (select max(number) from request_log) as newest",
  );
  const removeBelow = connection.prepare("delete from request_log where number < ?");
  const stepEnd = connection.prepare(
    "select number from request_log order by number limit 1 offset ?",
  );
  const removeOld = connection.prepare("delete from request_log where number < ? and at < ?");
  const removeHour = connection.prepare(
    "delete from usage_hour where hour = (select min(hour) from usage_hour) and hour < ?",
  );

  /** Rows come and go in the order of their numbers, so the numbers tell how many there are. */
  const removeSurplus = () => {
    const { oldest, newest } = logEnds.get() as { oldest: number | null; newest: number | null };
    const surplus = oldest === null ? 0 : newest! - oldest + 1 - logRowsMax;
    return surplus > 0 && removeBelow.run(oldest! + Math.min(surplus, rowsPerStep)).changes > 0;
  };
  /** What a clock that stood ahead has dated waits for its day, and what follows it too; `removeSurplus` bounds both. */
  const removeOutdated = (now: number) => {
    const end = stepEnd.get(rowsPerStep) as { number: number } | undefined;
    const before = logDays === 0 ? Number.MAX_SAFE_INTEGER : now - logDays * dayMilliseconds;
    return removeOld.run(end?.number ?? Number.MAX_SAFE_INTEGER, before).changes > 0;
  };
  const removeHours = (now: number) =>
    removeHour.run(hourText(now - hoursKeptDays * dayMilliseconds)).changes > 0;
  return (now) => removeSurplus() || removeOutdated(now) || removeHours(now);
}
