/** Removes old records in small steps, so that writes never wait long. SQLite returns their space to the disk. */
import type { DatabaseSync } from "node:sqlite";
import { dayMilliseconds, hourMilliseconds, minuteMilliseconds, hourOf } from "#store/durations.ts";
import type { PostgresSession } from "#store/postgres.ts";

export interface Retention {
  /** Days for which a request is kept; 0 for no request log. */
  logDays: number;
  logRowsMax: number;
}

/** Days for which hourly sums are kept. */
export const hoursKeptDays = 400;

/** Maximum number of requests that a step removes. */
const removedAtOnce = 5000;

/**
 * Time from a search that finds no old requests to the next search, in ms. A search may read the whole log. Old
 * requests that have not been removed yet are hidden.
 */
const lookEveryMilliseconds = hourMilliseconds;

/**
 * Returns a function that runs one step and reports whether it removed anything. A step removes up to 5,000 requests or
 * the sums of one hour. The function throws whatever node:sqlite throws. `now` is in ms since 1970.
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
  const look = openLook();

  return (now) => {
    const start = logStartOf(now, retention);
    moveStart.run(start, start);
    if (removeSurplus.run(retention.logRowsMax).changes > 0) return true;
    if (look.isDue(now)) {
      if (removeOld.run(start).changes > 0) return true;
      look.foundNothing(now);
    }
    return removeHour.run(hourOf(now - hoursKeptDays * dayMilliseconds)).changes > 0;
  };
}

/** Maximum number of the log's pages that a step reads, usually 64 MiB. The server might give up on a longer search. */
const pagesAtOnce = 8192;

/** SQL that removes up to 5,000 old or surplus requests. It skips those that another instance is removing. */
const removeRequests = `
  delete from request where ctid = any(array(
    select ctid from request where ctid >= $1::tid and ctid < $2::tid and (at < $3 or number <= $4)
    limit ${removedAtOnce} for update skip locked)) returning 1`;

/**
 * Returns a function that runs one step and reports whether the next is due at once. A step searches one part of the
 * log. The function rejects as `PostgresSession.query` does. `now` is in ms since 1970, and `newest` is the number of
 * the newest request.
 */
export function openPostgresRetention(
  retention: Retention,
): (session: Pick<PostgresSession, "query">, now: number, newest: number) => Promise<boolean> {
  const look = openLook();
  /** Page at which the next step begins. */
  let page = 0;
  return async ({ query }, now, newest) => {
    const start = logStartOf(now, retention);
    await query("update request_log_start set at = $1 where at <> $1", [start]);
    if (!look.isDue(now)) return false;
    const part = [`(${page},0)`, `(${page + pagesAtOnce},0)`];
    const surplus = newest - retention.logRowsMax;
    if ((await query(removeRequests, [...part, start, surplus])).length > 0) return true;
    const [log] = await query<{ pages: number }>(
      "select pg_relation_size('request') / current_setting('block_size')::integer as pages",
    );
    page = page + pagesAtOnce < log!.pages ? page + pagesAtOnce : 0;
    if (page > 0) return true;
    const keptFrom = now - hoursKeptDays * dayMilliseconds;
    const removed = await query(
      "delete from usage_hour where hour = (select min(hour) from usage_hour) and hour < $1 returning 1",
      [hourOf(keptFrom)],
    );
    const endedBefore = new Date(keptFrom).toISOString();
    await query("delete from usage_writer where written_at < $1", [endedBefore]);
    if (removed.length > 0) return true;
    look.foundNothing(now);
    return false;
  };
}

/** Returns a schedule of searches for old records. A search is due until one finds nothing, and again an hour later. */
function openLook() {
  let nothingAt = -Infinity;
  return {
    isDue: (now: number) => Math.abs(now - nothingAt) >= lookEveryMilliseconds,
    foundNothing: (now: number) => void (nothingAt = now),
  };
}

/**
 * Returns the start of the visible log, in ms since 1970. It is rounded down to the minute, so that not every batch
 * moves it. Older requests are hidden. All requests are hidden if `logDays` is 0.
 */
const logStartOf = (now: number, { logDays }: Retention): number =>
  logDays === 0
    ? Number.MAX_SAFE_INTEGER
    : Math.max(now - (now % minuteMilliseconds) - logDays * dayMilliseconds, 0);
