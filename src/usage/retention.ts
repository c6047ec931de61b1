/**
 * Removes records that have been kept long enough and returns the space to the disk, a little at a time, so that writing
 * never waits for long.
 */
import type { DatabaseSync } from "node:sqlite";
import { dayMilliseconds, hourMilliseconds, minuteMilliseconds } from "#store/durations.ts";
import { hourOf } from "./time.ts";

/** How much of the request log is kept. */
export interface Retention {
  /** 0 for no request log. */
  logDays: number;
  logRowsMax: number;
}

/** How long the sums of each hour are kept. */
export const hoursKeptDays = 400;

/** How many requests a step removes. */
export const removedAtOnce = 5000;

/** To find what is too old is to read the log once; until then it is only hidden. */
const lookEveryMilliseconds = hourMilliseconds;

/**
 * @returns a function that removes some thousand requests or the sums of one hour, or where there is nothing of it makes
 *   the file smaller by at most 1 MiB, and tells whether it did. `now` is milliseconds since 1970. It throws what
 *   node:sqlite throws.
 */
export function openRetention(
  connection: DatabaseSync,
  retention: Retention,
): (now: number) => boolean {
  const moveStart = connection.prepare("update request_log_start set at = ? where at <> ?");
  const removeSurplus = connection.prepare(
    `delete from request where number in (select number from request
       where number <= (select max(number) from request) - ? order by number limit ${removedAtOnce})`,
  );
  const removeOld = connection.prepare(
    `delete from request where number in (select number from request where at < ? limit ${removedAtOnce})`,
  );
  const removeHour = connection.prepare(
    "delete from usage_hour where hour = (select min(hour) from usage_hour) and hour < ?",
  );
  const giveBack = openGiveBack(connection);
  const look = openLook();

  return (now) => {
    const start = logStartOf(now, retention);
    moveStart.run(start, start);
    if (removeSurplus.run(retention.logRowsMax).changes > 0) return true;
    if (look.isDue(now)) {
      if (removeOld.run(start).changes > 0) return true;
      look.foundNothing(now);
    }
    const hourStart = hourOf(now - hoursKeptDays * dayMilliseconds);
    return removeHour.run(hourStart).changes > 0 || giveBack();
  };
}

/** Whether it is time to look for what is too old: until nothing is found, and then once an hour. */
export function openLook() {
  let nothingAt = -Infinity;
  return {
    isDue: (now: number) => Math.abs(now - nothingAt) >= lookEveryMilliseconds,
    foundNothing: (now: number) => void (nothingAt = now),
  };
}

/** Whether it is stored or not, an older request is not shown; by the minute, or each batch would move it. */
export const logStartOf = (now: number, { logDays }: Retention): number =>
  logDays === 0
    ? Number.MAX_SAFE_INTEGER
    : Math.max(wholeMinutes(now) - logDays * dayMilliseconds, 0);

const wholeMinutes = (milliseconds: number) => milliseconds - (milliseconds % minuteMilliseconds);

const pagesPerStep = 256;
/** 4 MiB, which new rows will fill again. */
const freePagesMin = 1024;
/** And this share of the file, or traffic that varies over the day would make it shrink and grow each day. */
const freeShareKept = 1 / 8;

/** @returns a function that returns a little of the file's free space to the disk; false where that is not worthwhile. */
function openGiveBack(connection: DatabaseSync): () => boolean {
  const number = (pragma: string) =>
    Number(Object.values(connection.prepare(`pragma ${pragma}`).get()!)[0]);
  return () => {
    const free = number("freelist_count");
    if (free <= Math.max(freePagesMin, number("page_count") * freeShareKept)) return false;
    connection.exec(`pragma incremental_vacuum(${pagesPerStep})`);
    return number("freelist_count") < free;
  };
}
