/** Puts what the last batches wrote in order: blocks of requests by account, totals by their hour. */
import type { DatabaseSync } from "node:sqlite";
import { dayMilliseconds } from "#store/durations.ts";
import {
  type AccountOrder,
  accountsOf,
  decodeBlock,
  encodeBlocks,
  orderByAccount,
  type RequestBlock,
} from "#store/request-block.ts";
import {
  extentOf,
  freeColumns,
  joinColumns,
  type RequestColumns,
  type RequestExtent,
} from "#store/request-columns.ts";
import { foldSums, type RecentSums } from "./recent-sums.ts";
import { inTransaction } from "./writes.ts";

/** Requests of a group: the more, the fewer blocks an account with few requests is in. */
export const groupRequests = 32_768;
const blockRequests = 1024;
/** A group is removed at once, so it must not span much more than a day. */
export const groupMilliseconds = dayMilliseconds;
/** What waits is added up each time that somebody looks at totals. */
const recentSumsMax = 8;

const addToHour = `
  insert into usage_hour (account, hour, key, operation, status, requests, bytes, milliseconds)
  values (?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (account, hour, key, operation, status) do update set
    requests = requests + excluded.requests,
    bytes = bytes + excluded.bytes,
    milliseconds = milliseconds + excluded.milliseconds`;

/** @returns a function that does a part of it in one transaction, and tells whether there was any. It throws what node:sqlite throws. */
export function openGrouping(connection: DatabaseSync): (now: number) => boolean {
  const sumsWaiting = connection.prepare(`
    select (select batch from usage_recent order by number desc limit 1)
      - (select batch from usage_recent order by number limit 1) + 1 as count`);
  const recentSums = connection.prepare("select hour, sums from usage_recent order by number");
  const removeSums = connection.prepare("delete from usage_recent");
  const addSums = connection.prepare(addToHour);
  const waiting = connection.prepare(`
    select first_at as firstAt, number,
      (select last from request_recent order by number desc limit 1) as last
    from request_recent order by number limit 1`);
  const recent = connection.prepare(
    "select number, last, content from request_recent order by number",
  );
  const removeRecent = connection.prepare("delete from request_recent where number <= ?");
  const groups = openGroups(connection);

  const addToHours = () => {
    for (const sum of foldSums(recentSums.all() as unknown as RecentSums[]))
      addSums.run(
        sum.account,
        sum.hour,
        sum.key,
        sum.operation,
        sum.status,
        sum.requests,
        sum.bytes,
        sum.milliseconds,
      );
    removeSums.run();
  };
  const group = () => {
    const parts: RequestColumns[] = [];
    let count = 0;
    let last = 0;
    for (const row of recent.iterate()) {
      // The blocks of a batch have the same last number, and go into one group.
      if (count >= groupRequests && row["last"] !== last) break;
      const part = decodeBlock(row["content"] as Uint8Array)!;
      parts.push(part);
      count += part.count;
      last = Number(row["last"]);
    }
    const all = joinColumns(parts);
    for (const part of parts) freeColumns(part);
    groups.add(all);
    freeColumns(all);
    removeRecent.run(last);
  };
  return (now) => {
    if (Number(sumsWaiting.get()!["count"] ?? 0) > recentSumsMax) {
      inTransaction(connection, addToHours);
      return true;
    }
    const { firstAt, number, last } = (waiting.get() ?? {}) as Record<string, number | undefined>;
    if (number === undefined) return false;
    const isFull = last! - number + 1 >= groupRequests;
    if (!isFull && now - firstAt! < groupMilliseconds) return false;
    inTransaction(connection, group);
    return true;
  };
}

interface Groups {
  /** Within a transaction. @returns the number of the group. */
  add(columns: RequestColumns, ordered?: AccountOrder): number;
  remove(extent: Pick<RequestExtent, "number" | "last" | "lastAt">): void;
  /** All requests of a group. */
  read(extent: Pick<RequestExtent, "number" | "last">): RequestColumns;
}

export function openGroups(connection: DatabaseSync): Groups {
  const addGroup = connection.prepare(
    "insert into request_group (number, last, first_at, last_at, first_made) values (?, ?, ?, ?, ?)",
  );
  const addBlock = connection.prepare("insert into request_block (number, content) values (?, ?)");
  const addRun = connection.prepare(
    "insert into request_run (account, last_at, block, first_at) values (?, ?, ?, ?)",
  );
  const addIds = connection.prepare(
    "insert into request_text_id (bucket, group_number, entries) values (?, ?, ?)",
  );
  const blocksOf = connection.prepare(
    "select content from request_block where number between ? and ? order by number",
  );
  const removeGroup = connection.prepare("delete from request_group where number = ?");
  const removeBlocks = connection.prepare("delete from request_block where number between ? and ?");
  const removeRuns = connection.prepare(
    "delete from request_run where account = ? and last_at <= ? and block between ? and ?",
  );
  const removeIds = connection.prepare(
    "delete from request_text_id where bucket = ? and group_number = ?",
  );
  const contentsOf = ({ number, last }: Pick<RequestExtent, "number" | "last">) =>
    blocksOf.all(number, last).map(({ content }) => content as Uint8Array);

  return {
    add(columns, ordered) {
      const { extent, blocks, textIds } = groupOf(columns, ordered);
      const { number, last, firstAt, lastAt, firstMade } = extent;
      addGroup.run(number, last, firstAt, lastAt, firstMade);
      for (const [i, { content, runs }] of blocks.entries()) {
        addBlock.run(number + i, content);
        for (const run of runs) addRun.run(run.account, run.lastAt, number + i, run.firstAt);
      }
      for (const [bucket, entries] of textIds) addIds.run(bucket, number, entries);
      return number;
    },
    remove(extent) {
      const { number, last, lastAt } = extent;
      const accounts = new Set(contentsOf(extent).flatMap(accountsOf));
      for (const account of accounts) removeRuns.run(account, lastAt, number, last);
      removeBlocks.run(number, last);
      for (let bucket = 0; bucket < textIdBuckets; bucket++) removeIds.run(bucket, number);
      removeGroup.run(number);
    },
    read: (extent) => joinColumns(contentsOf(extent).map((content) => decodeBlock(content)!)),
  };
}

/** The requests of an account may come from several instances; they are put in the order of their numbers. */
export function orderByNumber(columns: RequestColumns): AccountOrder {
  const ordered = orderByAccount(columns);
  const { number } = columns;
  let start = 0;
  for (const end of ordered.ends) {
    ordered.order.subarray(start, end).sort((one, other) => number[one]! - number[other]!);
    start = end;
  }
  return ordered;
}

/** What is stored of a group. */
interface OrderedGroup {
  extent: RequestExtent;
  blocks: readonly RequestBlock[];
  /** By their bucket, where in the group ids are that the service did not make. */
  textIds: ReadonlyMap<number, Uint8Array>;
}

/** @param columns at least one request. */
export function groupOf(columns: RequestColumns, ordered = orderByAccount(columns)): OrderedGroup {
  const extent = extentOf(columns, ordered.order);
  const blocks = encodeBlocks(columns, ordered, blockRequests, true);
  return { extent, blocks, textIds: textIdsOf(blocks) };
}

const textIdBuckets = 256;
const entryBytes = 4;

/** In which bucket an id is, and three bytes that tell it from most others there. */
export function hashOfId(id: string): { bucket: number; rest: number } {
  // FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return { bucket: hash >>> 24, rest: hash & 0xffffff };
}

/** The numbers that the blocks of a group have within it, for the ids with a hash. */
export function blocksWith(rest: number, entries: Uint8Array): number[] {
  const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
  const blocks = new Set<number>();
  for (let at = 0; at < entries.byteLength; at += entryBytes) {
    const entry = view.getUint32(at);
    if (entry >>> 8 === rest) blocks.add(entry & 0xff);
  }
  return [...blocks];
}

function textIdsOf(blocks: readonly RequestBlock[]): Map<number, Uint8Array> {
  const buckets = new Map<number, number[]>();
  for (const [i, { textIds }] of blocks.entries())
    for (const id of textIds) {
      const { bucket, rest } = hashOfId(id);
      const entries = buckets.get(bucket) ?? [];
      buckets.set(bucket, entries);
      entries.push((rest << 8) | i);
    }
  return new Map(
    [...buckets].map(([bucket, entries]) => {
      const bytes = Buffer.alloc(entries.length * entryBytes);
      for (const [i, entry] of entries.entries()) bytes.writeUInt32BE(entry >>> 0, i * entryBytes);
      return [bucket, bytes];
    }),
  );
}
