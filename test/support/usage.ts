/** Requests put into a usage store as the writer thread does it, without the thread. */
import { openUsage, type UsageStore } from "#store/stores.ts";
import { connectUsage } from "#usage/connection.ts";
import { requestAt } from "#store/request-columns.ts";
import {
  type AnsweredRequest,
  columnsOf,
  openChunkDraft,
  type RequestChunk,
} from "#usage/request-chunk.ts";
import { openWrites } from "#usage/writes.ts";
import { noon } from "./control.ts";

export interface TimedRequest extends AnsweredRequest {
  at: number;
}

/** A request like any other, with what a test wants to be otherwise. */
export const request = (otherwise: Partial<TimedRequest> = {}): TimedRequest => ({
  at: noon,
  account: 1,
  key: "key_a",
  operation: "fetch-gp",
  status: 200,
  milliseconds: 1.25,
  bytes: 1000,
  dataset: "20261121T090000Z-1",
  problem: null,
  requestId: "req_1",
  query: null,
  ...otherwise,
});

export function chunkOf(requests: readonly TimedRequest[]): RequestChunk {
  const draft = openChunkDraft();
  for (const one of requests)
    if (!draft.add(one.at, one)) throw new Error("too many requests for one chunk");
  return draft.take();
}

export function readChunk(chunk: RequestChunk): TimedRequest[] {
  const columns = columnsOf(chunk, 1);
  return Array.from({ length: columns.count }, (_, i) => {
    const { number: _number, ...read } = requestAt(columns, i);
    return read;
  });
}

export async function putRequests(
  dataDir: string,
  requests: readonly TimedRequest[],
  keepsLog = true,
): Promise<void> {
  const connection = await connectUsage(dataDir, 1000);
  openWrites(connection, keepsLog)({ kind: "requests", rows: chunkOf(requests), now: noon });
  connection.close();
}

export async function readUsage<R>(
  dataDir: string,
  read: (usage: UsageStore) => Promise<R>,
): Promise<R> {
  const usage = await openUsage(dataDir);
  try {
    return await read(usage);
  } finally {
    await usage.close();
  }
}
