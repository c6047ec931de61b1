/** Puts what all instances wrote to PostgreSQL in order, and removes what is too old: a step at a time, by one instance at a time. */
import { dayMilliseconds } from "#store/durations.ts";
import { inTurn } from "#store/job-locks.ts";
import { decodeBlock, encodeBlocks, listAccounts } from "#store/request-block.ts";
import {
  extentOf,
  freeColumns,
  joinColumns,
  type RequestColumns,
  requestsSince,
} from "#store/request-columns.ts";
import type { PostgresSession } from "#store/postgres.ts";
import { groupMilliseconds, groupOf, groupRequests, orderByNumber } from "./groups.ts";
import { pack } from "./postgres-writes.ts";
import { foldSums, type RecentSums } from "./recent-sums.ts";
import { hoursKeptDays, logStartOf, type Retention, spanMilliseconds } from "./retention.ts";
import { hourOf } from "./time.ts";
import { smallBlock } from "./writes.ts";

type Query = PostgresSession["query"];

/** Beside the jobs of the account worker, which have the numbers below. */
export const tidyJob = 4;

/** What waits is added up each time that somebody looks at totals. */
const recentSumsMax = 32;
/** Blocks of a second are joined once there are so many, into one of about so many requests. */
const smallBlocksMax = 32;
const joinedRequests = 1024;
/** Rows that one statement reads or removes: with their texts they may be a MB. */
const rowsAtOnce = 4;
const removedAtOnce = 64;

/** What there is to do; null where there is nothing of the kind. */
interface Waiting {
  startAt: number;
  sums: number;
  smallBlocks: number;
  requests: number;
  firstAt: number | null;
  hasOldRecent: boolean;
  /** The group whose newest request is the oldest. */
  oldGroup: number | null;
  oldGroupLastAt: number | null;
  oldGroupRequests: number | null;
  groupedRequests: number;
  partlyOldGroup: number | null;
  firstHour: string | null;
}

const look = `
  select log.at as "startAt",
    (select count(*) from usage_recent) as sums,
    recent.*,
    old.number as "oldGroup", old.last_at as "oldGroupLastAt", old.requests as "oldGroupRequests",
    (select coalesce(sum(requests), 0) from request_group) as "groupedRequests",
    (select number from request_group where first_at < $2 order by number limit 1) as "partlyOldGroup",
    (select min(hour) from usage_hour) as "firstHour"
  from request_log_start as log
    cross join (
      select count(*) filter (where requests < ${smallBlock}) as "smallBlocks", coalesce(sum(requests), 0) as requests,
        min(first_at) as "firstAt", coalesce(bool_or(last_at < $1), false) as "hasOldRecent"
      from request_recent) as recent
    left join (select number, last_at, requests from request_group order by last_at limit 1) as old on true`;

/**
 * Does one step, and tells whether it did; false also where another instance is at it.
 * @param now milliseconds since 1970.
 * @throws as `PostgresSession.query`; the step was then taken as a whole or not at all.
 */
export async function tidyPostgres(
  session: PostgresSession,
  retention: Retention,
  now: number,
): Promise<boolean> {
  const { query } = session;
  const startAt = logStartOf(now, retention);
  const [waiting] = await query<Waiting>({ name: "usage_look", text: look }, [
    startAt,
    startAt - spanMilliseconds,
  ]);
  if (waiting!.startAt !== startAt)
    await query("update request_log_start set at = $1 where at <> $1", [startAt]);
  const step = stepFor(waiting!, retention, startAt, now);
  return step !== undefined && (await inTurn(session, tidyJob, () => step(query)));
}

/** Within a transaction, while no other instance takes a step. @returns whether there was anything to do. */
type Step = (query: Query) => Promise<boolean>;

function stepFor(
  waiting: Waiting,
  { logRowsMax }: Retention,
  startAt: number,
  now: number,
): Step | undefined {
  const { oldGroup, partlyOldGroup, firstAt, firstHour } = waiting;
  if (waiting.hasOldRecent) return (query) => removeRecent(query, startAt);
  if (oldGroup !== null) {
    // As many as are to be kept, and less than a group more.
    const left = waiting.groupedRequests + waiting.requests - waiting.oldGroupRequests!;
    if (waiting.oldGroupLastAt! < startAt || left >= logRowsMax)
      return (query) => removeGroup(query, oldGroup);
  }
  if (partlyOldGroup !== null) return (query) => shortenGroup(query, partlyOldGroup, startAt);
  if (waiting.sums > recentSumsMax) return addToHours;
  const isLate = firstAt !== null && now - firstAt >= groupMilliseconds;
  if (isLate || waiting.requests >= groupRequests) return groupRecent;
  if (waiting.smallBlocks >= smallBlocksMax) return joinSmall;
  const keptFrom = hourOf(now - hoursKeptDays * dayMilliseconds);
  if (firstHour !== null && firstHour < keptFrom) return (query) => removeHour(query, keptFrom);
  return undefined;
}

async function removeRecent(query: Query, startAt: number): Promise<boolean> {
  const removed = await query(
    `delete from request_recent where number in
       (select number from request_recent where last_at < $1 order by number limit ${removedAtOnce})
     returning number`,
    [startAt],
  );
  return removed.length > 0;
}

/** Within a transaction. @returns whether there was such a group. */
async function removeGroup(query: Query, number: number): Promise<boolean> {
  const [group] = await query<{ last: number }>(
    "delete from request_group where number = $1 returning last",
    [number],
  );
  if (group === undefined) return false;
  const { last } = group;
  await query("delete from request_run where block between $1 and $2", [number, last]);
  await query("delete from request_block where number between $1 and $2", [number, last]);
  await query("delete from request_text_id where group_number = $1", [number]);
  return true;
}

/** Requests that a wrong clock dated ahead would keep those that were written with them for as long. */
async function shortenGroup(query: Query, number: number, startAt: number): Promise<boolean> {
  const [group] = await query<{ last: number }>(
    "select last from request_group where number = $1",
    [number],
  );
  if (group === undefined) return false;
  const numbers = Array.from({ length: group.last - number + 1 }, (_, i) => number + i);
  const all = await readBlocks(query, "request_block", numbers);
  await removeGroup(query, number);
  const left = requestsSince(all, startAt);
  freeColumns(all);
  if (left.count > 0) await addGroup(query, left);
  return true;
}

async function addToHours(query: Query): Promise<boolean> {
  const waiting = await query<RecentSums>(
    `delete from usage_recent where number in
       (select number from usage_recent order by number limit 8 * ${recentSumsMax})
     returning hour, sums`,
  );
  const rows = [...foldSums(waiting)];
  const column = (name: keyof (typeof rows)[number]) => rows.map((row) => row[name]);
  await query(
    `insert into usage_hour (account, hour, key, operation, status, requests, bytes, milliseconds)
     select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::bigint[], $7::bigint[], $8::numeric[])
     on conflict (account, hour, key, operation, status) do update set
       requests = usage_hour.requests + excluded.requests,
       bytes = usage_hour.bytes + excluded.bytes,
       milliseconds = usage_hour.milliseconds + excluded.milliseconds`,
    [
      column("account"),
      column("hour"),
      column("key"),
      column("operation"),
      column("status"),
      column("requests"),
      column("bytes"),
      column("milliseconds"),
    ],
  );
  return rows.length > 0;
}

interface RecentBlock {
  number: number;
  requests: number;
}

/** The first blocks that together have so many requests, or all. */
async function firstBlocks(
  query: Query,
  requestsMin: number,
  isWanted: string,
): Promise<readonly number[]> {
  const found = await query<RecentBlock>(
    `select number, requests from request_recent where ${isWanted} order by number`,
  );
  let requests = 0;
  const end = found.findIndex((block) => (requests += block.requests) >= requestsMin);
  return found.slice(0, end < 0 ? found.length : end + 1).map(({ number }) => number);
}

/** All requests of blocks. @param numbers of blocks in the order of their numbers. */
export async function readBlocks(
  query: Query,
  table: "request_recent" | "request_block",
  numbers: readonly number[],
): Promise<RequestColumns> {
  const parts: RequestColumns[] = [];
  for (let start = 0; start < numbers.length; start += rowsAtOnce) {
    const rows = await query<{ content: Uint8Array }>(
      `select content from ${table} where number = any($1::bigint[]) order by number`,
      [numbers.slice(start, start + rowsAtOnce)],
    );
    parts.push(...rows.map(({ content }) => decodeBlock(content)!));
  }
  const all = joinColumns(parts);
  for (const part of parts) freeColumns(part);
  return all;
}

const removeBlocks = "delete from request_recent where number = any($1::bigint[])";

async function groupRecent(query: Query): Promise<boolean> {
  const numbers = await firstBlocks(query, groupRequests, "true");
  if (numbers.length === 0) return false;
  const all = await readBlocks(query, "request_recent", numbers);
  await addGroup(query, all);
  freeColumns(all);
  await query(removeBlocks, [numbers]);
  return true;
}

/** Within a transaction. @param columns at least one request. @returns the number of the group. */
export async function addGroup(query: Query, columns: RequestColumns): Promise<number> {
  const { extent, blocks, textIds } = groupOf(columns, orderByNumber(columns));
  const { firstAt, lastAt, firstMade } = extent;
  const [added] = await query<{ number: number }>(
    `insert into request_group (number, last, requests, first_at, last_at, first_made)
     select after + 1, after + $1, $2, $3, $4, $5 from (select coalesce(max(last), 0) as after from request_group) as newest
     returning number`,
    [blocks.length, columns.count, firstAt, lastAt, firstMade],
  );
  const { number } = added!;
  for (const [i, { content, runs }] of blocks.entries())
    await query(
      `with block as (insert into request_block (number, content) values ($1, $2))
       insert into request_run (account, last_at, block, first_at)
       select account, last_at, $1, first_at from unnest($3::bigint[], $4::bigint[], $5::bigint[]) as run (account, last_at, first_at)`,
      [
        number + i,
        content,
        runs.map((run) => run.account),
        runs.map((run) => run.lastAt),
        runs.map((run) => run.firstAt),
      ],
    );
  const lists = pack(
    1,
    [...textIds.values()].map((entries) => [entries]),
  );
  await query(
    `insert into request_text_id (bucket, group_number, entries)
     select bucket, $1, substring($2::bytea from place for bytes)
     from unnest($3::integer[], $4::integer[], $5::integer[]) as own (bucket, place, bytes)`,
    [number, lists.bytes, [...textIds.keys()], ...lists.places],
  );
  return number;
}

/**
 * The joined block has the number of the first: whoever turns from the newest to the oldest and has read only some of
 * those that were joined still comes to it.
 */
async function joinSmall(query: Query): Promise<boolean> {
  const numbers = await firstBlocks(query, joinedRequests, `requests < ${smallBlock}`);
  if (numbers.length < 2) return false;
  const all = await readBlocks(query, "request_recent", numbers);
  const ordered = orderByNumber(all);
  const { firstAt, lastAt, firstMade } = extentOf(all, ordered.order);
  const [block] = encodeBlocks(all, ordered, all.count, false);
  await query(removeBlocks, [numbers]);
  await query(
    `insert into request_recent (number, requests, first_at, last_at, first_made, accounts, content)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      numbers[0],
      all.count,
      firstAt,
      lastAt,
      firstMade,
      listAccounts(ordered.accounts),
      block!.content,
    ],
  );
  freeColumns(all);
  return true;
}

async function removeHour(query: Query, keptFrom: string): Promise<boolean> {
  const removed = await query(
    `delete from usage_hour where hour = (select min(hour) from usage_hour) and hour < $1 returning 1`,
    [keptFrom],
  );
  await query(
    `delete from usage_writer where written_at < now() - interval '${hoursKeptDays} days'`,
  );
  return removed.length > 0;
}
