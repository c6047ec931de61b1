/** Requests put into a usage store as the writer thread does it, without the thread. */
import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { connectPostgres, type PostgresSession } from "#store/postgres.ts";
import { openFile, shapeOf, usageFile } from "#store/sqlite-file.ts";
import { openUsage, type UsageStore } from "#store/stores.ts";
import {
  type AnsweredRequest,
  type Batch,
  openChunkDraft,
  type RequestChunk,
  requestsIn,
} from "#usage/recording.ts";
import { readRequests, requestsInPages } from "#usage/request-log.ts";
import { openPostgresRetention, openRetention, type Retention } from "#usage/retention.ts";
import { readSums } from "#usage/totals.ts";
import { openWriter, type WriterOptions } from "#usage/writer.ts";
import { openPostgresWrites, openWrites } from "#usage/writes.ts";
import { noon } from "./control.ts";
import { type StorePlace, storePlace } from "./for-each-store.ts";
import { temporaryFolder } from "./temporary-folder.ts";

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

export const batchOf = (requests: readonly TimedRequest[], now = noon): Batch => ({
  keyUse: [],
  requests: chunkOf(requests),
  now,
});

export function readChunk(chunk: RequestChunk): TimedRequest[] {
  const wordOrNull = (index: number) => (index === 0 ? null : chunk.words[index]!);
  return Array.from(requestsIn(chunk), ({ hundredths, ...read }) => ({
    ...read,
    key: chunk.words[read.key]!,
    operation: chunk.words[read.operation]!,
    milliseconds: hundredths / 100,
    dataset: wordOrNull(read.dataset),
    problem: wordOrNull(read.problem),
  }));
}

/** A writer, with the faults that it tells. */
export function watchedWriter(t: TestContext, options: Partial<WriterOptions> = {}) {
  const faults: (string | null)[] = [];
  const writer = openWriter({
    dataDir: temporaryFolder(t),
    onFault: (fault) => void faults.push(fault && fault.message),
    ...options,
  });
  t.after(() => writer.close());
  return { writer, faults };
}

/** Holds the write lock as another process would. @returns what releases it. */
export async function lockUsage(dataDir: string): Promise<() => void> {
  await (await openUsage(dataDir)).close();
  const other = new DatabaseSync(usageFile(dataDir));
  other.exec("begin immediate");
  return () => {
    other.exec("rollback");
    other.close();
  };
}

/** A data folder, or where else the store of a test is. */
type Place = string | StorePlace;

/** The store in a database, which needs no folder. */
export const placeIn = (databaseUrl: string): StorePlace => ({ dataDir: "/nowhere", databaseUrl });

const placeOf = (place: Place): StorePlace =>
  typeof place === "string" ? { dataDir: place, databaseUrl: null } : place;

async function onSession<R>(url: string, work: (session: PostgresSession) => Promise<R>) {
  const session = await connectPostgres(url);
  try {
    return await work(session);
  } finally {
    session.close();
  }
}

/** Writes batches one after the other, as the thread of one server does. */
export function postgresWrites(query: PostgresSession["query"], keepsLog = true) {
  const write = openPostgresWrites(query, keepsLog, randomUUID());
  let number = 0;
  return (batch: Batch) => write({ number: ++number, batch });
}

export async function putRequests(
  place: Place,
  requests: readonly TimedRequest[],
  keepsLog = true,
): Promise<void> {
  const { dataDir, databaseUrl } = placeOf(place);
  const batch = batchOf(requests);
  if (databaseUrl !== null)
    return onSession(
      databaseUrl,
      async ({ query }) => void (await postgresWrites(query, keepsLog)(batch)),
    );
  const connection = openFile(shapeOf("usage.sqlite", dataDir));
  openWrites(connection, keepsLog)(batch);
  connection.close();
}

/** Removes all that is too old. @returns how many steps it took. */
export async function tidyUsage(
  place: Place,
  now: number,
  retention: Partial<Retention> = {},
): Promise<number> {
  const { dataDir, databaseUrl } = placeOf(place);
  const kept = { logDays: 14, logRowsMax: 1_000_000, ...retention };
  let steps = 0;
  if (databaseUrl !== null)
    return onSession(databaseUrl, async (session) => {
      const step = openPostgresRetention(kept);
      const [log] = await session.query<any>("select max(number) as newest from request");
      while (await step(session, now, log.newest)) steps++;
      return steps;
    });
  const connection = openFile(shapeOf("usage.sqlite", dataDir));
  const step = openRetention(connection, kept);
  while (step(now)) steps++;
  connection.close();
  return steps;
}

/** Opens a usage store with these requests, put into it one chunk after the other. */
export async function openUsageWith(
  t: TestContext,
  chunks: readonly (readonly TimedRequest[])[],
  keepsLog = true,
): Promise<UsageStore> {
  const place = await storePlace(t);
  for (const chunk of chunks) await putRequests(place, chunk, keepsLog);
  const usage = await openUsage(place.dataDir, place);
  t.after(() => usage.close());
  return usage;
}

export async function readUsage<R>(
  place: Place,
  read: (usage: UsageStore) => Promise<R>,
): Promise<R> {
  const own = placeOf(place);
  const usage = await openUsage(own.dataDir, own);
  try {
    return await read(usage);
  } finally {
    await usage.close();
  }
}

/** Of the requests in the log of the first account, the oldest first. */
export const idsIn = (place: Place): Promise<string[]> =>
  readUsage(place, async (usage) => {
    const { requests } = await readRequests(usage, { account: 1, limit: 20_000 });
    return requests.map(({ requestId }) => requestId).toReversed();
  });

/** How many requests the totals have of the first account. */
export async function countRequests(usage: UsageStore): Promise<number> {
  const sums = await readSums(usage, { by: [], account: 1, from: "2000", to: "3000" });
  return sums[0]?.totals.requests ?? 0;
}

export const countIn = (place: Place): Promise<number> => readUsage(place, countRequests);

/** All that account pages and commands show of usage. */
export function usageOf(place: Place): Promise<unknown> {
  return readUsage(place, async (usage) => {
    const requests: unknown[] = [];
    for (const account of [1, 2, 3, 2_000_000_000])
      for await (const page of requestsInPages(usage, { account, countMax: 100_000 }))
        requests.push(...page);
    const sums = await readSums(usage, {
      by: ["account", "hour", "key", "operation"],
      from: "2000",
      to: "3000",
    });
    const lastUse = await usage.database
      .selectFrom("key_use")
      .selectAll()
      .orderBy("key_id")
      .execute();
    const totals = sums.map(({ account, hour, key, operation, totals: own }) => ({
      of: [account, hour, key, operation],
      totals: { ...own, milliseconds: Math.round(own.milliseconds * 100) },
    }));
    return { requests, lastUse: lastUse.map((row) => ({ ...row })), totals };
  });
}
