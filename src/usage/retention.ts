/**
 * Removes records that have been kept long enough and returns the space to the disk, a little at a time, so that writing
 * never waits for long.
 */
import { statfsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { dayMilliseconds } from "#store/durations.ts";
import { hourOf } from "./time.ts";

/** How much of the request log is kept. */
export interface Retention {
  /** 0 for no request log. */
  logDays: number;
  logRowsMax: number;
}

/** How long the sums of each hour are kept. */
export const hoursKeptDays = 400;
const rowsPerStep = 2000;

/**
 * @returns a function that removes at most 2,000 requests or the sums of one hour, or where there are none makes the file
 *   smaller by at most 1 MiB, and tells whether it did. `now` is milliseconds since 1970. It throws what node:sqlite throws.
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
  /** Requests dated by a clock that was ahead stay until their day has come, as do later ones; `removeSurplus` bounds both. */
  const removeOutdated = (now: number) => {
    const end = stepEnd.get(rowsPerStep) as { number: number } | undefined;
    const before = logDays === 0 ? Number.MAX_SAFE_INTEGER : now - logDays * dayMilliseconds;
    return removeOld.run(end?.number ?? Number.MAX_SAFE_INTEGER, before).changes > 0;
  };
  const removeHours = (now: number) =>
    removeHour.run(hourOf(now - hoursKeptDays * dayMilliseconds)).changes > 0;
  const giveBack = openGiveBack(connection);
  return (now) => removeSurplus() || removeOutdated(now) || removeHours(now) || giveBack();
}

const pagesPerStep = 256;
/** 4 MiB, which new rows will fill again. */
const freePagesMin = 1024;
/** And this share of the file, or traffic that varies over the day would make it shrink and grow each day. */
const freeShareKept = 1 / 8;
/** A file with so little in it is rewritten within a second or two. */
const rewrittenBytesMax = 64 * 1024 ** 2;

/** @returns a function that returns a little of the file's free space to the disk; false where that is not worthwhile. */
function openGiveBack(connection: DatabaseSync): () => boolean {
  const number = (pragma: string) =>
    Number(Object.values(connection.prepare(`pragma ${pragma}`).get()!)[0]);
  let mayRewrite = true;

  /** Rewrites a file that was made without `auto_vacuum` once, to turn it on; a larger one stays as it is. */
  const rewrite = () => {
    const bytes = (number("page_count") - number("freelist_count")) * number("page_size");
    if (!mayRewrite || bytes > rewrittenBytesMax || !hasSpaceFor(connection, 3 * bytes)) return;
    // Whatever prevents it may last, and trying again and again would keep a CPU busy.
    mayRewrite = false;
    connection.exec("pragma auto_vacuum = incremental; vacuum");
    connection.exec("pragma wal_checkpoint(truncate)");
  };
  return () => {
    const free = number("freelist_count");
    if (free <= Math.max(freePagesMin, number("page_count") * freeShareKept)) return false;
    if (number("auto_vacuum") === 0) rewrite();
    else connection.exec(`pragma incremental_vacuum(${pagesPerStep})`);
    return number("freelist_count") < free;
  };
}

/** SQLite writes such a file to its temporary folder first, and from there to the write-ahead log and the file. */
function hasSpaceFor(connection: DatabaseSync, bytes: number): boolean {
  const { bavail, bsize } = statfsSync(connection.location()!);
  return bavail * bsize >= bytes;
}
