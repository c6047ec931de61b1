/** Takes the request log, and the totals that wait to be added up, over from one installation to another; a file or a database either way. */
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
import { addGroup, readBlocks, removeGroup } from "./postgres-retention.ts";
import type { RecentSums } from "./recent-sums.ts";
import { inTransaction } from "./writes.ts";

/** A connection to `usage.sqlite`, or a session of the database. */
export type UsageConnection = { file: DatabaseSync } | PostgresSession;

interface TakeOver {
  /** Takes over the groups that there are, while more are written. @param onTaken told how many requests there were so far. */
  takeGroups(onTaken: (requests: number) => void): Promise<void>;
  /**
   * Takes over what came since, and what is in no group yet; the source must not change.
   * @returns how many requests were taken over in all.
   */
  finish(): Promise<number>;
}

/** Whatever a copy before it left of the log is removed: to begin anew costs seconds. */
export async function openUsageTakeOver(
  source: UsageConnection,
  target: UsageConnection,
): Promise<TakeOver> {
  const from = sideOf(source);
  const to = sideOf(target);
  await to.clear();
  /** Which group of the target has the requests of a group of the source, and how many. */
  const taken = new Map<string, { number: number; requests: number }>();
  const count = () => taken.values().reduce((sum, { requests }) => sum + requests, 0);
  let next = 1;

  /** @returns null where there is nothing in it. */
  const take = async (
    columns: RequestColumns,
  ): Promise<{ number: number; requests: number } | null> => {
    const requests = columns.count;
    if (requests === 0) return null;
    next = renumber(columns, next);
    const sum = sumOf(columns);
    const number = await to.add(columns);
    const added = (await to.list()).find((one) => one.number === number)!;
    const readBack = await to.read(added);
    if (sumOf(readBack) !== sum)
      throw new StoreFault(
        "unusable",
        `Requests of the log that were copied are not what they were. Run \`gp-records copy\` again.`,
      );
    freeColumns(readBack);
    freeColumns(columns);
    return { number, requests };
  };
  const takeNew = async (onTaken: (requests: number) => void) => {
    const present = await from.list();
    for (const group of present) {
      const name = nameOf(group);
      if (taken.has(name)) continue;
      const added = await take(await from.read(group));
      // None where it was removed meanwhile.
      if (added !== null) taken.set(name, added);
      onTaken(count());
    }
    const names = new Set(present.map(nameOf));
    for (const [name, { number }] of taken)
      if (!names.has(name)) {
        await to.remove((await to.list()).find((one) => one.number === number)!);
        taken.delete(name);
      }
  };
  return {
    takeGroups: takeNew,
    async finish() {
      await takeNew(() => {});
      const recent = await take(await from.recent());
      await to.settle(await from.sums(), await from.startAt(), next - 1);
      return count() + (recent?.requests ?? 0);
    },
  };
}

/** A group, or what has its place: the same requests have the same facts, whoever put them in order. */
interface Group {
  number: number;
  last: number;
  firstAt: number;
  lastAt: number;
}

const nameOf = ({ number, last, firstAt, lastAt }: Group) =>
  JSON.stringify([number, last, firstAt, lastAt]);

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
  remove(group: Group): Promise<void>;
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
    async remove(group) {
      inTransaction(file, () => groups.remove(group));
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
    remove: ({ number }) => inTransaction(async () => void (await removeGroup(query, number))),
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
