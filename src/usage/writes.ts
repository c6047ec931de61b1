/** Writes each kind of batch to `usage.sqlite` in one transaction, with statements that are prepared once. */
import type { DatabaseSync } from "node:sqlite";
import { packRequestId } from "#store/request-id-bytes.ts";
import type { KeyUseTable } from "#store/usage-tables.ts";
import { openHourSums } from "./hour-sums.ts";
import { type RequestChunk, requestsIn } from "./request-chunk.ts";

/** One batch on its way to the thread; `now` is ms since 1970. */
export type Batch =
  | { kind: "keyUse"; rows: readonly KeyUseTable[] }
  | { kind: "requests"; rows: RequestChunk; now: number };

/** A batch with its number among the batches of one writer, from 1 on. */
export interface NumberedBatch {
  number: number;
  batch: Batch;
}

/** Keeps the later time: another server may have written a newer one while this batch waited. */
const rememberKeyUse = `
  insert into key_use (key_id, last_used_at, network) values (?, ?, ?)
  on conflict (key_id) do update set last_used_at = excluded.last_used_at, network = excluded.network
  where key_use.last_used_at < excluded.last_used_at`;

const addToHour = `
  insert into usage_hour (account, hour, key, operation, status, requests, bytes, milliseconds)
  values (?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (account, hour, key, operation, status) do update set
    requests = requests + excluded.requests, bytes = bytes + excluded.bytes,
    milliseconds = milliseconds + excluded.milliseconds`;

const addRequest = `
  insert into request (account, at, key, operation, status, hundredths, bytes, dataset, problem, id, query)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/**
 * Returns a function that writes one batch in one transaction, and throws whatever node:sqlite throws.
 * @param keepsLog logs each request, instead of only adding it to the sums.
 */
export function openWrites(connection: DatabaseSync, keepsLog: boolean): (batch: Batch) => void {
  const keyUse = connection.prepare(rememberKeyUse);
  const hour = connection.prepare(addToHour);
  const request = connection.prepare(addRequest);
  const words = openWords(connection);

  const writeRequests = (chunk: RequestChunk) => {
    const sums = openHourSums(chunk.words);
    const numbers = keepsLog ? words.numbersOf(chunk.words) : [];
    for (const one of requestsIn(chunk)) {
      sums.add(one);
      if (keepsLog)
        request.run(
          one.account,
          one.at,
          numbers[one.key]!,
          numbers[one.operation]!,
          one.status,
          one.hundredths,
          one.bytes,
          numbers[one.dataset]!,
          numbers[one.problem]!,
          packRequestId(one.requestId),
          one.query,
        );
    }
    for (const sum of sums.rows()) {
      const { account, key, operation, status, requests, bytes, milliseconds } = sum;
      hour.run(account, sum.hour, key, operation, status, requests, bytes, milliseconds);
    }
  };
  return (batch) => {
    try {
      inTransaction(connection, () => {
        if (batch.kind === "requests") return writeRequests(batch.rows);
        for (const { key_id, last_used_at, network } of batch.rows)
          keyUse.run(key_id, last_used_at, network);
      });
    } catch (error) {
      words.forget();
      throw error;
    }
  };
}

/** Runs `work` in a transaction. @throws whatever `work` throws; the database then has none of its changes. */
function inTransaction(connection: DatabaseSync, work: () => void): void {
  connection.exec("begin immediate");
  try {
    work();
    connection.exec("commit");
  } catch (error) {
    // A full disk makes SQLite roll back by itself.
    if (connection.isTransaction) connection.exec("rollback");
    throw error;
  }
}

/** Returns the numbers of words, which the table keeps for good. */
function openWords(connection: DatabaseSync) {
  const add = connection.prepare("insert into word (word) values (?) on conflict do nothing");
  const find = connection.prepare("select number from word where word = ?");
  const known = new Map<string, number>();
  const numberOf = (word: string): number => {
    let number = known.get(word);
    if (number === undefined) {
      add.run(word);
      number = Number(find.get(word)!["number"]);
      known.set(word, number);
    }
    return number;
  };
  return {
    /** Returns the numbers of a chunk's words, of which the first stands for null. */
    numbersOf: ([, ...words]: readonly string[]) => [null, ...words.map(numberOf)],
    /** Forgets all numbers. Call it after a rollback of a transaction that may have added some. */
    forget: () => known.clear(),
  };
}
