/** Writes each kind of batch in one transaction, with statements that are prepared once. */
import type { DatabaseSync } from "node:sqlite";
import { hourMilliseconds } from "#store/durations.ts";
import type { KeyUseTable, UsageHourTable } from "#store/usage-tables.ts";
import { readChunk, type RecordedRequest, type RequestChunk } from "./request-chunk.ts";
import { hourOf } from "./time.ts";

/** One batch on its way to the thread; `now` is milliseconds since 1970. */
export type Batch =
  | { kind: "keyUse"; rows: readonly KeyUseTable[] }
  | { kind: "requests"; rows: RequestChunk; now: number };

/** A batch that had to wait may be older than what another server has written since; the later time is kept. */
const rememberKeyUse = `
  insert into key_use (key_id, last_used_at, network) values (?, ?, ?)
  on conflict (key_id) do update set last_used_at = excluded.last_used_at, network = excluded.network
  where key_use.last_used_at < excluded.last_used_at`;

const addToHour = `
  insert into usage_hour (account, hour, key, operation, status, requests, bytes, milliseconds)
  values (?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (account, hour, key, operation, status) do update set
    requests = requests + excluded.requests,
    bytes = bytes + excluded.bytes,
    milliseconds = milliseconds + excluded.milliseconds`;

const logRequest = `
  insert into request_log
    (at, account, key, operation, status, milliseconds, bytes, dataset, problem, request_id, query)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/**
 * @param keepsLog whether each request is logged, not only added to the sums.
 * @returns a function that writes one batch in one transaction, and throws what node:sqlite throws.
 */
export function openWrites(connection: DatabaseSync, keepsLog: boolean): (batch: Batch) => void {
  const keyUse = connection.prepare(rememberKeyUse);
  const hour = connection.prepare(addToHour);
  const log = connection.prepare(logRequest);

  const writeRequests = (requests: readonly RecordedRequest[]) => {
    for (const sum of sumHours(requests))
      hour.run(
        sum.account,
        sum.hour,
        sum.key,
        sum.operation,
        sum.status,
        sum.requests,
        sum.bytes,
        sum.milliseconds,
      );
    if (!keepsLog) return;
    for (const one of requests)
      log.run(
        one.at,
        one.account,
        one.key,
        one.operation,
        one.status,
        one.milliseconds,
        one.bytes,
        one.dataset,
        one.problem,
        one.requestId,
        one.query,
      );
  };
  const write = (batch: Batch) => {
    if (batch.kind === "requests") return writeRequests(readChunk(batch.rows));
    for (const { key_id, last_used_at, network } of batch.rows)
      keyUse.run(key_id, last_used_at, network);
  };
  return (batch) => {
    connection.exec("begin immediate");
    try {
      write(batch);
      connection.exec("commit");
    } catch (error) {
      // A full disk makes SQLite roll back by itself.
      if (connection.isTransaction) connection.exec("rollback");
      throw error;
    }
  };
}

/** The requests added up by hour, account, key, operation and status. */
function sumHours(requests: readonly RecordedRequest[]): Iterable<UsageHourTable> {
  const sums = new Map<string, UsageHourTable>();
  let hourNumber = Number.NaN;
  let hour = "";
  for (const { at, account, key, operation, status, bytes, milliseconds } of requests) {
    const number = Math.floor(at / hourMilliseconds);
    if (number !== hourNumber) {
      hourNumber = number;
      hour = hourOf(at);
    }
    const name = `${hour} ${account} ${key} ${operation} ${status}`;
    let sum = sums.get(name);
    if (sum === undefined) {
      sum = { account, hour, key, operation, status, requests: 0, bytes: 0, milliseconds: 0 };
      sums.set(name, sum);
    }
    sum.requests++;
    sum.bytes += bytes;
    sum.milliseconds += milliseconds;
  }
  return sums.values();
}
