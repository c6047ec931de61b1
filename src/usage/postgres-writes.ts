/** Writes batches to PostgreSQL, each in one statement that counts once, whatever becomes of the answer to it. */
import { randomUUID } from "node:crypto";
import { encodeBlocks, listAccounts, orderByAccount } from "#store/request-block.ts";
import { extentOf, freeColumns, type RequestColumns } from "#store/request-columns.ts";
import type { PostgresSession } from "#store/postgres.ts";
import type { KeyUseTable } from "#store/usage-tables.ts";
import { sumRequests } from "./recent-sums.ts";
import { columnsOf, type RequestChunk } from "./request-chunk.ts";
import { type Batch, recentBlockMax } from "./writes.ts";

type Query = PostgresSession["query"];

/**
 * @param query of whatever session there is at the moment.
 * @param keepsLog whether each request is logged, not only added to the sums.
 * @returns a function that writes one batch. Where it rejects the batch may have been written all the same; called with the same
 *   batch again it counts it once, as it does if the server comes to the first statement only afterwards.
 */
export function openPostgresWrites(
  query: Query,
  keepsLog: boolean,
): (batch: Batch) => Promise<void> {
  const writer = randomUUID();
  const takeNumbers = openNumbers(query);
  let batches = 0;
  /** What is or was being written, in the form it must keep. */
  let latest: { batch: Batch; values: readonly unknown[] } | undefined;

  const valuesOf = async (chunk: RequestChunk): Promise<readonly unknown[]> => {
    const columns = columnsOf(chunk, await takeNumbers(chunk.count));
    const values = [writer, ++batches, ...rowsOf(columns, keepsLog)];
    freeColumns(columns);
    return values;
  };
  return async (batch) => {
    if (batch.kind === "keyUse") return rememberKeyUse(query, batch.rows);
    if (batch.rows.count === 0) return;
    if (latest?.batch !== batch) latest = { batch, values: await valuesOf(batch.rows) };
    await query({ name: "usage_add", text: addBatch }, latest.values);
    latest = undefined;
  };
}

/**
 * The row of the writer decides: a statement that comes second waits until the first is committed or given up, and then sees a
 * batch that is not less than its own.
 */
const addBatch = `
  with once as (
    insert into usage_writer (id, batch) values ($1, $2)
    on conflict (id) do update set batch = excluded.batch, written_at = now()
      where usage_writer.batch < excluded.batch
    returning 1
  ), of_sums as (
    insert into usage_recent (hour, accounts, sums)
    select hour, substring($3::bytea from place for lists), substring($3 from place + lists for bytes)
    from once, unnest($4::text[], $5::integer[], $6::integer[], $7::integer[]) as own (hour, place, lists, bytes)
  )
  insert into request_recent (accounts, content, requests, first_at, last_at, first_made)
  select substring($8::bytea from place for lists), substring($8 from place + lists for bytes), requests,
    $13::bigint, $14::bigint, $15::bigint
  from once, unnest($9::integer[], $10::integer[], $11::integer[], $12::integer[]) as own (place, lists, bytes, requests)`;

/** All bytes of a kind as one value, as those in an array would be sent as text, twice as long. */
function rowsOf(columns: RequestColumns, keepsLog: boolean): readonly unknown[] {
  const ordered = orderByAccount(columns);
  const sums = sumRequests(columns, ordered);
  const { firstAt, lastAt, firstMade } = extentOf(columns, ordered.order);
  const blocks = keepsLog ? encodeBlocks(columns, ordered, recentBlockMax, false) : [];
  const packedSums = pack(
    2,
    sums.map((sum) => [sum.accounts, sum.sums]),
  );
  const packedBlocks = pack(
    2,
    blocks.map(({ content, runs }) => [listAccounts(runs.map(({ account }) => account)), content]),
  );
  return [
    packedSums.bytes,
    sums.map(({ hour }) => hour),
    ...packedSums.places,
    packedBlocks.bytes,
    ...packedBlocks.places,
    blocks.map((_, i) => Math.min(recentBlockMax, columns.count - i * recentBlockMax)),
    firstAt,
    lastAt,
    firstMade,
  ];
}

/** Values of several rows as one. @returns where each row begins in it, counted from 1, and how long each value is, by column. */
export function pack(columns: number, rows: readonly (readonly Uint8Array[])[]) {
  let next = 1;
  const begins = rows.map((row) => {
    const begin = next;
    for (const { length } of row) next += length;
    return begin;
  });
  const lengths = Array.from({ length: columns }, (_, i) => rows.map((row) => row[i]!.length));
  return { bytes: Buffer.concat(rows.flat()), places: [begins, ...lengths] };
}

/** At a time; what is left of them at the end of the process stays unused. */
const numbersTaken = 65_536;

/** Numbers for requests, as many in a row as asked for, which nobody else has. */
function openNumbers(query: Query): (count: number) => Promise<number> {
  let next = 1;
  let end = 0;
  return async (count) => {
    if (end - next + 1 < count) {
      const [row] = await query<{ end: number }>(
        `update request_counter set numbered = numbered + ${numbersTaken} returning numbered as "end"`,
      );
      end = row!.end;
      next = end - numbersTaken + 1;
    }
    next += count;
    return next - count;
  };
}

/** In the order of their ids, so that instances never wait for each other in a circle. */
async function rememberKeyUse(query: Query, rows: readonly KeyUseTable[]): Promise<void> {
  const ordered = rows.toSorted((one, other) => (one.key_id < other.key_id ? -1 : 1));
  await query(
    `insert into key_use (key_id, last_used_at, network)
     select * from unnest($1::text[], $2::text[], $3::text[])
     on conflict (key_id) do update set last_used_at = excluded.last_used_at, network = excluded.network
       where key_use.last_used_at < excluded.last_used_at`,
    [
      ordered.map(({ key_id }) => key_id),
      ordered.map(({ last_used_at }) => last_used_at),
      ordered.map(({ network }) => network),
    ],
  );
}
