/** Takes the totals that wait to be added up, and the request log, over into a backup or out of one; a file or a database either way. */
import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { StoreFault } from "#store/domain-error.ts";
import { decodeBlock } from "#store/request-block.ts";
import {
  freeColumns,
  joinColumns,
  requestAt,
  type RequestColumns,
} from "#store/request-columns.ts";
import type { PostgresSession } from "#store/postgres.ts";
import { openGroups, orderByNumber } from "./groups.ts";
import { addGroup, readBlocks } from "./postgres-retention.ts";
import type { RecentSums } from "./recent-sums.ts";
import { inTransaction } from "./writes.ts";

/** A connection to `usage.sqlite`, or a session of the database. */
type UsageConnection = { file: DatabaseSync } | PostgresSession;

/**
 * Whatever the target has is removed. Nobody may write to either side meanwhile.
 * @param hasRequests false for the totals alone.
 */
export async function takeOverUsage(
  source: UsageConnection,
  target: UsageConnection,
  hasRequests: boolean,
): Promise<void> {
  const from = sideOf(source);
  const to = sideOf(target);
  await to.clear();
  let next = 1;
  const take = async (columns: RequestColumns) => {
    if (columns.count === 0) return;
    next = renumber(columns, next);
    const sum = sumOf(columns);
    const number = await to.add(columns);
    const added = (await to.list()).find((one) => one.number === number)!;
    const readBack = await to.read(added);
    if (sumOf(readBack) !== sum)
      throw new StoreFault("unusable", "Requests that were copied are not what they were.");
    freeColumns(readBack);
    freeColumns(columns);
  };
  if (hasRequests) {
    for (const group of await from.list()) await take(await from.read(group));
    await take(await from.recent());
  }
  await to.settle(await from.sums(), await from.startAt(), next - 1);
}

interface Group {
  number: number;
  last: number;
  firstAt: number;
  lastAt: number;
}

interface Side {
  list(): Promise<Group[]>;
  read(group: Group): Promise<RequestColumns>;
  /** What is in no group. */
  recent(): Promise<RequestColumns>;
  sums(): Promise<RecentSums[]>;
  /** When the oldest request was answered that is to be seen. */
  startAt(): Promise<number>;
  clear(): Promise<void>;
  /** @returns the number of the group. */
  add(columns: RequestColumns): Promise<number>;
  /** @param last number of a request. */
  settle(sums: readonly RecentSums[], startAt: number, last: number): Promise<void>;
}

const sideOf = (connection: UsageConnection): Side =>
  "file" in connection ? inFile(connection.file) : inDatabase(connection);

const logTables = [
  "usage_recent",
  "request_recent",
  "request_group",
  "request_block",
  "request_run",
  "request_text_id",
];

const listGroups =
  'select number, last, first_at as "firstAt", last_at as "lastAt" from request_group order by number';

function inFile(file: DatabaseSync): Side {
  const groups = openGroups(file);
  const all = <Row>(sql: string) => file.prepare(sql).all() as unknown as Row[];
  return {
    list: async () => all<Group>(listGroups),
    read: async (group) => groups.read(group),
    recent: async () =>
      joinBlocks(
        all<{ content: Uint8Array }>("select content from request_recent order by number"),
      ),
    sums: async () => all("select hour, accounts, sums from usage_recent order by number"),
    startAt: async () => all<{ at: number }>("select at from request_log_start")[0]!.at,
    async clear() {
      inTransaction(file, () => {
        for (const table of logTables) file.exec(`delete from ${table}`);
      });
    },
    async add(columns) {
      return inTransaction(file, () => groups.add(columns, orderByNumber(columns)));
    },
    async settle(sums, startAt) {
      const insert = file.prepare(
        "insert into usage_recent (batch, hour, accounts, sums) values (1, ?, ?, ?)",
      );
      inTransaction(file, () => {
        file.exec("delete from usage_recent");
        for (const one of sums) insert.run(one.hour, one.accounts, one.sums);
        file.prepare("update request_log_start set number = 0, at = ?").run(BigInt(startAt));
      });
    },
  };
}

function inDatabase({ query, inTransaction }: PostgresSession): Side {
  const numbersOf = ({ number, last }: Group) =>
    Array.from({ length: last - number + 1 }, (_, i) => number + i);
  return {
    list: () => query<Group>(listGroups),
    read: (group) => readBlocks(query, "request_block", numbersOf(group)),
    async recent() {
      const found = await query<{ number: number }>(
        "select number from request_recent order by number",
      );
      return readBlocks(
        query,
        "request_recent",
        found.map(({ number }) => number),
      );
    },
    sums: () => query<RecentSums>("select hour, accounts, sums from usage_recent order by number"),
    startAt: async () => (await query<{ at: number }>("select at from request_log_start"))[0]!.at,
    clear: () =>
      inTransaction(async () => {
        for (const table of logTables) await query(`delete from ${table}`);
      }),
    add: (columns) => inTransaction(() => addGroup(query, columns)),
    settle: (sums, startAt, last) =>
      inTransaction(async () => {
        await query("delete from usage_recent");
        for (const { hour, accounts, sums: own } of sums)
          await query("insert into usage_recent (hour, accounts, sums) values ($1, $2, $3)", [
            hour,
            accounts,
            own,
          ]);
        await query("update request_log_start set number = 0, at = $1", [startAt]);
        await query("update request_counter set numbered = greatest(numbered, $1)", [last]);
      }),
  };
}

function joinBlocks(rows: readonly { content: Uint8Array }[]): RequestColumns {
  const parts = rows.map(({ content }) => decodeBlock(content)!);
  const all = joinColumns(parts);
  for (const part of parts) freeColumns(part);
  return all;
}

/** Gives the requests numbers without gaps, in the order of those they have. @returns the number after the last. */
function renumber({ count, number }: RequestColumns, next: number): number {
  const places = Uint32Array.from({ length: count }, (_, i) => i);
  places.sort((one, other) => number[one]! - number[other]!);
  for (const [i, place] of places.entries()) number[place] = next + i;
  return next + count;
}

/** Of all that is known of the requests, in the order of their numbers. */
function sumOf(columns: RequestColumns): string {
  const places = Uint32Array.from({ length: columns.count }, (_, i) => i);
  const { number } = columns;
  places.sort((one, other) => number[one]! - number[other]!);
  const digest = createHash("sha256");
  for (const place of places) digest.update(JSON.stringify(requestAt(columns, place)));
  return digest.digest("hex");
}
