/**
 * Writes usage to PostgreSQL, and removes old records. A batch counts once, even if it is sent again after a lost
 * answer.
 */
import { dayMilliseconds, hourOf } from "#store/durations.ts";
import { openLastingSession, type PostgresSession } from "#store/postgres.ts";
import { type ChunkRequest, requestsIn, type NumberedBatch } from "./recording.ts";
import { hoursKeptDays, logStartOf, openLook, removedAtOnce, type Retention } from "./retention.ts";
import { packRequestId, openHourSums } from "./writes.ts";

type Query = PostgresSession["query"];

/** Opens a store that connects with its first write, and again after an outage. */
export function openPostgresStore(url: string, retention: Retention, writer: string) {
  const removeOld = openPostgresRetention(retention);
  // A server crash may lose the last second's writes. Usage is not worth a wait for the disk at each commit.
  const session = openLastingSession(url, {
    name: "gp-records usage",
    settings: { synchronous_commit: "off" },
  });
  return {
    write: openPostgresWrites(session.query, retention.logDays > 0, writer),
    async tidy(now: number) {
      // This machine's clock may be ahead. Records that are still to be kept must not be removed because of it.
      const [clock] = await session.query<{ now: number }>(
        "select floor(extract(epoch from clock_timestamp()) * 1000) as now",
      );
      return removeOld(session, Math.min(now, clock!.now));
    },
    close: session.close,
  };
}

/**
 * Returns a function that writes one batch. If the function rejects, the batch may still have been written. Another
 * call with the same number counts the batch only once, even if the server runs the first statement later.
 * @param query runs SQL on the current session.
 * @param keepsLog true to log each request, besides adding it to the sums.
 * @param writer id of the writer that numbers the batches.
 */
export function openPostgresWrites(
  query: Query,
  keepsLog: boolean,
  writer: string,
): (numbered: NumberedBatch) => Promise<void> {
  const numbersOf = openWords(query);
  return async ({ number, batch: { keyUse, requests } }) => {
    if (keyUse.length > 0) await query(rememberKeyUse, [JSON.stringify(keyUse)]);
    if (requests.count === 0) return;
    const sums = openHourSums(requests.words);
    const numbers = keepsLog ? await numbersOf(requests.words) : [];
    const logged: object[] = [];
    for (const one of requestsIn(requests)) {
      sums.add(one);
      if (keepsLog) logged.push(rowOf(one, numbers));
    }
    const writtenAt = new Date().toISOString();
    const values = [writer, number, writtenAt, JSON.stringify(sums.rows()), JSON.stringify(logged)];
    await query({ name: "usage_add", text: addBatch }, values);
  };
}

/**
 * Statement that adds a batch. The writer's row prevents duplicates: a repeated statement waits until the first is
 * committed or rolled back. It adds nothing if the row's batch number is then not below its own. Sums are added in a
 * fixed order, so that instances cannot deadlock.
 */
const addBatch = `
  with once as (
    insert into usage_writer (id, batch, written_at) values ($1, $2, $3)
    on conflict (id) do update set batch = excluded.batch, written_at = excluded.written_at
      where usage_writer.batch < excluded.batch
    returning 1
  ), of_hours as (
    insert into usage_hour
    select own.* from once, json_populate_recordset(null::usage_hour, $4) as own
    order by account, hour, key, operation, status
    on conflict (account, hour, key, operation, status) do update set
      requests = usage_hour.requests + excluded.requests,
      bytes = usage_hour.bytes + excluded.bytes,
      milliseconds = usage_hour.milliseconds + excluded.milliseconds
  )
  insert into request (account, at, key, operation, status, hundredths, bytes, dataset, problem, id, query)
  select account, at, key, operation, status, hundredths, bytes, dataset, problem, id, query
  from once, json_populate_recordset(null::request, $5)`;

/** Statement that writes keys' last use, in a fixed order, so that instances cannot deadlock. */
const rememberKeyUse = `
  insert into key_use select * from json_populate_recordset(null::key_use, $1) order by key_id
  on conflict (key_id) do update set last_used_at = excluded.last_used_at, network = excluded.network
    where key_use.last_used_at < excluded.last_used_at`;

/** Returns a request's row in the log. */
const rowOf = ({ requestId, ...others }: ChunkRequest, numbers: WordNumbers) => ({
  ...others,
  key: numbers[others.key],
  operation: numbers[others.operation],
  dataset: numbers[others.dataset],
  problem: numbers[others.problem],
  id: `\\x${Buffer.from(packRequestId(requestId)).toString("hex")}`,
});

/** Numbers of a chunk's words, by word index. */
type WordNumbers = readonly (number | null)[];

/**
 * Returns a function that finds the numbers of words, and adds missing words to the table, which keeps them for good.
 */
function openWords(query: Query): (words: readonly string[]) => Promise<WordNumbers> {
  const known = new Map<string, number>();
  return async ([, ...words]) => {
    const unknown = words.filter((word) => !known.has(word));
    if (unknown.length > 0) {
      await query(
        "insert into word (word) select * from unnest($1::text[]) order by 1 on conflict do nothing",
        [unknown],
      );
      const found = await query<{ word: string; number: number }>(
        "select word, number from word where word = any($1)",
        [unknown],
      );
      for (const { word, number } of found) known.set(word, number);
    }
    return [null, ...words.map((word) => known.get(word)!)];
  };
}

const lastSurplus = "select max(number) - $1 as number from request";

/** SQL that removes requests, except those that another instance is removing. */
const removeRequests = `
  delete from request where ctid = any(array(
    select ctid from request where at < $1 or number <= $2 limit ${removedAtOnce} for update skip locked)) returning 1`;

/**
 * Returns a function that runs one step and reports whether it removed requests or sums. It throws as
 * `PostgresSession.query` does; the step has then removed all of its records or none. `now` is in ms since 1970.
 */
export function openPostgresRetention(
  retention: Retention,
): (session: Pick<PostgresSession, "query">, now: number) => Promise<boolean> {
  const look = openLook();
  /** Number of the newest surplus request. It is kept until a step finds no more requests to remove. */
  let surplus: number | undefined;
  return async (session, now) => {
    const { query } = session;
    const start = logStartOf(now, retention);
    await query("update request_log_start set at = $1 where at <> $1", [start]);
    if (!look.isDue(now)) return false;
    surplus ??=
      (await query<{ number: number | null }>(lastSurplus, [retention.logRowsMax]))[0]!.number ?? 0;
    if ((await query(removeRequests, [start, surplus])).length > 0) return true;
    surplus = undefined;
    const keptFrom = now - hoursKeptDays * dayMilliseconds;
    if (await removeHour(query, keptFrom)) return true;
    look.foundNothing(now);
    return false;
  };
}

async function removeHour(query: Query, keptFrom: number): Promise<boolean> {
  const removed = await query(
    "delete from usage_hour where hour = (select min(hour) from usage_hour) and hour < $1 returning 1",
    [hourOf(keptFrom)],
  );
  await query("delete from usage_writer where written_at < $1", [new Date(keptFrom).toISOString()]);
  return removed.length > 0;
}
