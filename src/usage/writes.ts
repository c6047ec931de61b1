/** Writes each kind of batch in one transaction, with statements that are prepared once. */
import type { DatabaseSync } from "node:sqlite";
import {
  type AccountOrder,
  decodeBlock,
  encodeBlocks,
  listAccounts,
  orderByAccount,
} from "#store/request-block.ts";
import { extentOf, freeColumns, joinColumns, type RequestColumns } from "#store/request-columns.ts";
import type { KeyUseTable } from "#store/usage-tables.ts";
import { sumRequests } from "./recent-sums.ts";
import { columnsOf, type RequestChunk } from "./request-chunk.ts";

/** One batch on its way to the thread; `now` is milliseconds since 1970. */
export type Batch =
  | { kind: "keyUse"; rows: readonly KeyUseTable[] }
  | { kind: "requests"; rows: RequestChunk; now: number };

/** A batch that had to wait may be older than what another server has written since; the later time is kept. */
const rememberKeyUse = `
  insert into key_use (key_id, last_used_at, network) values (?, ?, ?)
  on conflict (key_id) do update set last_used_at = excluded.last_used_at, network = excluded.network
  where key_use.last_used_at < excluded.last_used_at`;

/**
 * @param keepsLog whether each request is logged, not only added to the sums.
 * @returns a function that writes one batch in one transaction, and throws what node:sqlite throws.
 */
export function openWrites(connection: DatabaseSync, keepsLog: boolean): (batch: Batch) => void {
  const keyUse = connection.prepare(rememberKeyUse);
  const newestBatch = connection.prepare(
    "select batch from usage_recent order by number desc limit 1",
  );
  const addSums = connection.prepare(
    "insert into usage_recent (batch, hour, accounts, sums) values (?, ?, ?, ?)",
  );
  const log = openLogWrites(connection);

  const writeRequests = (chunk: RequestChunk) => {
    if (chunk.count === 0) return;
    const columns = columnsOf(chunk, log.next());
    const ordered = orderByAccount(columns);
    const batch = Number(newestBatch.get()?.["batch"] ?? 0) + 1;
    for (const { hour, accounts, sums } of sumRequests(columns, ordered))
      addSums.run(batch, hour, accounts, sums);
    if (keepsLog) log.add(columns, ordered);
    freeColumns(columns);
  };
  const write = (batch: Batch) => {
    if (batch.kind === "requests") return writeRequests(batch.rows);
    for (const { key_id, last_used_at, network } of batch.rows)
      keyUse.run(key_id, last_used_at, network);
  };
  return (batch) => inTransaction(connection, () => write(batch));
}

/** @throws what `work` throws, after which nothing of it is in the database. */
export function inTransaction<R>(connection: DatabaseSync, work: () => R): R {
  connection.exec("begin immediate");
  try {
    const result = work();
    connection.exec("commit");
    return result;
  } catch (error) {
    // A full disk makes SQLite roll back by itself.
    if (connection.isTransaction) connection.exec("rollback");
    throw error;
  }
}

/** Smaller blocks are written anew together with the next batch, so that few requests do not make many blocks. */
export const smallBlock = 256;
/** A page reads whole blocks, so one of the most requests is cut by account. */
export const recentBlockMax = 1024;

/** Numbers go on where the log began anew, too. */
export const newestNumber = `
  select max(
    (select number - 1 from request_log_start),
    coalesce((select last from request_recent order by number desc limit 1), 0),
    coalesce((select last from request_group order by number desc limit 1), 0)) as number`;

function openLogWrites(connection: DatabaseSync) {
  const newest = connection.prepare(newestNumber);
  const latest = connection.prepare(
    "select number, last, content from request_recent order by number desc limit 1",
  );
  const remove = connection.prepare("delete from request_recent where number = ?");
  const insert = connection.prepare(`
    insert into request_recent (number, last, first_at, last_at, first_made, accounts, content)
    values (?, ?, ?, ?, ?, ?, ?)`);

  /** Each block has a number of its own among those of its requests, and the last of all of them. */
  const put = (columns: RequestColumns, ordered: AccountOrder) => {
    const { number, last, firstAt, lastAt, firstMade } = extentOf(columns, ordered.order);
    const blocks = encodeBlocks(columns, ordered, recentBlockMax, false);
    for (const [i, { content, runs }] of blocks.entries()) {
      const accounts = listAccounts(runs.map(({ account }) => account));
      insert.run(number + i, last, firstAt, lastAt, firstMade, accounts, content);
    }
  };
  /** The latest block, removed from the log, if it is to be written anew. */
  const takeSmall = (): RequestColumns | undefined => {
    const row = latest.get() as { number: number; last: number; content: Uint8Array } | undefined;
    if (row === undefined || row.last - row.number + 1 >= smallBlock) return undefined;
    remove.run(row.number);
    return decodeBlock(row.content);
  };
  return {
    /** Number of the next request. */
    next: () => Number(newest.get()!["number"]) + 1,
    add(columns: RequestColumns, ordered: AccountOrder): void {
      const small = columns.count < smallBlock ? takeSmall() : undefined;
      if (small !== undefined) {
        const joined = joinColumns([small, columns]);
        return put(joined, orderByAccount(joined));
      }
      put(columns, ordered);
    },
  };
}
