/** Removes old records from PostgreSQL step by step, one instance at a time. */
import { dayMilliseconds } from "#store/durations.ts";
import { inTurn } from "#store/job-locks.ts";
import type { PostgresSession } from "#store/postgres.ts";
import { hoursKeptDays, logStartOf, openLook, removedAtOnce, type Retention } from "./retention.ts";
import { hourOf } from "./time.ts";

/** Number of this job. The jobs of the account worker have the numbers below. */
export const tidyJob = 4;

const lastSurplus = "select max(number) - $1 as number from request";

const removeRequests = `
  delete from request where ctid = any(array(
    select ctid from request where at < $1 or number <= $2 limit ${removedAtOnce})) returning 1`;

/**
 * Returns a function that takes one step and reports whether it did. It returns false, too, while another instance is at
 * work. `now` is ms since 1970. It throws as `PostgresSession.query`; the step was then taken as a whole or not at all.
 */
export function openPostgresRetention(
  retention: Retention,
): (session: PostgresSession, now: number) => Promise<boolean> {
  const look = openLook();
  let startSaid = -1;
  /** Number of the last surplus request, found once for all steps that follow. */
  let surplus: number | undefined;
  return async (session, now) => {
    const { query } = session;
    const start = logStartOf(now, retention);
    if (start !== startSaid)
      await query("update request_log_start set at = $1 where at <> $1", [start]);
    startSaid = start;
    if (!look.isDue(now)) return false;
    return inTurn(session, tidyJob, async () => {
      surplus ??=
        (await query<{ number: number | null }>(lastSurplus, [retention.logRowsMax]))[0]!.number ??
        0;
      if ((await query(removeRequests, [start, surplus])).length > 0) return true;
      surplus = undefined;
      const keptFrom = now - hoursKeptDays * dayMilliseconds;
      if (await removeHour(session, keptFrom)) return true;
      look.foundNothing(now);
      return false;
    });
  };
}

async function removeHour({ query }: PostgresSession, keptFrom: number): Promise<boolean> {
  const removed = await query(
    "delete from usage_hour where hour = (select min(hour) from usage_hour) and hour < $1 returning 1",
    [hourOf(keptFrom)],
  );
  await query("delete from usage_writer where written_at < $1", [new Date(keptFrom).toISOString()]);
  return removed.length > 0;
}
