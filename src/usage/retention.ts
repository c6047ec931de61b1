/**
 * Removes records that have been kept long enough and returns the space to the disk, a little at a time, so that writing
 * never waits for long.
 */
import { statfsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { dayMilliseconds, minuteMilliseconds } from "#store/durations.ts";
import { requestsSince } from "#store/request-columns.ts";
import { openGrouping, openGroups } from "./groups.ts";
import { hourOf } from "./time.ts";
import { inTransaction, newestNumber } from "./writes.ts";

/** How much of the request log is kept. */
export interface Retention {
  /** 0 for no request log. */
  logDays: number;
  logRowsMax: number;
}

/** A group that begins so long before what is kept was dated by a wrong clock. */
export const spanMilliseconds = 2 * dayMilliseconds;

/** How long the sums of each hour are kept. */
export const hoursKeptDays = 400;

/**
 * @returns a function that puts a part of what was written in order (see `openGrouping`), or removes some thousand requests or
 *   the sums of one hour, or where there is nothing of it makes the file smaller by at most 1 MiB, and tells whether it did.
 *   `now` is milliseconds since 1970. It throws what node:sqlite throws.
 */
export function openRetention(
  connection: DatabaseSync,
  retention: Retention,
): (now: number) => boolean {
  const { logDays, logRowsMax } = retention;
  const newest = connection.prepare(newestNumber);
  const moveStart = connection.prepare(
    "update request_log_start set number = :number, at = :at where number <> :number or at <> :at",
  );
  const outdated = (table: "request_recent" | "request_group") =>
    connection.prepare(`
      select number, last, last_at as lastAt from ${table} where last < ? or last_at < ?
      order by number limit 1`);
  const outdatedRecent = outdated("request_recent");
  const outdatedGroup = outdated("request_group");
  const partlyOutdated = connection.prepare(
    "select number, last, last_at as lastAt from request_group where first_at < ? order by number limit 1",
  );
  const removeRecent = connection.prepare("delete from request_recent where number = ?");
  const removeHour = connection.prepare(
    "delete from usage_hour where hour = (select min(hour) from usage_hour) and hour < ?",
  );
  const groups = openGroups(connection);
  const group = openGrouping(connection);
  const giveBack = openGiveBack(connection);

  const startAt = (now: number): LogStart => {
    const last = Number(newest.get()!["number"]);
    const rowsMax = logDays === 0 ? 0 : logRowsMax;
    return { number: Math.max(last + 1 - rowsMax, 0), at: logStartOf(now, retention) };
  };
  const removeRequests = (start: LogStart): boolean => {
    const recent = outdatedRecent.get(start.number, start.at);
    if (recent !== undefined) return removeRecent.run(recent["number"]!).changes > 0;
    const found = outdatedGroup.get(start.number, start.at) as GroupRow | undefined;
    if (found !== undefined) {
      inTransaction(connection, () => groups.remove(found));
      return true;
    }
    return removePart(start.at);
  };
  /** Requests that a wrong clock dated ahead would keep those that were written with them for as long. */
  const removePart = (at: number): boolean => {
    const found = partlyOutdated.get(at - spanMilliseconds) as GroupRow | undefined;
    if (found === undefined) return false;
    inTransaction(connection, () => {
      const left = requestsSince(groups.read(found), at);
      groups.remove(found);
      groups.add(left);
    });
    return true;
  };
  const removeHours = (now: number) =>
    removeHour.run(hourOf(now - hoursKeptDays * dayMilliseconds)).changes > 0;
  return (now) => {
    const start = startAt(now);
    moveStart.run({ number: start.number, at: start.at });
    return removeRequests(start) || group(now) || removeHours(now) || giveBack();
  };
}

/** Whether it is stored or not, an older request is not shown; by the minute, or each batch would move it. */
export const logStartOf = (now: number, { logDays }: Retention): number =>
  logDays === 0
    ? Number.MAX_SAFE_INTEGER
    : Math.max(wholeMinutes(now) - logDays * dayMilliseconds, 0);

const wholeMinutes = (milliseconds: number) => milliseconds - (milliseconds % minuteMilliseconds);

interface LogStart {
  /** Of the oldest request that is kept. */
  number: number;
  at: number;
}

interface GroupRow {
  number: number;
  last: number;
  lastAt: number;
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
