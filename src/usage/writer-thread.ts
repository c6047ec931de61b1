/** The writer thread: one transaction for each batch, after those that failed before it. */
import { parentPort, workerData } from "node:worker_threads";
import { setTimeout as wait } from "node:timers/promises";
import { StoreFault } from "#store/domain-error.ts";
import { usageFile } from "#store/files.ts";
import type { GateMemory, PostgresSession } from "#store/postgres.ts";
import { sqliteFault } from "#store/store-fault.ts";
import { connectUsage } from "./connection.ts";
import { openKeptBatches, type Waiting } from "./kept-batches.ts";
import { openRetention, type Retention } from "./retention.ts";
import { type Batch, openWrites } from "./writes.ts";

export interface WriterSetting {
  dataDir: string;
  /** The PostgreSQL that is written, and how this process takes turns at connecting; null for a file in `dataDir`. */
  database: { url: string; gateMemory: GateMemory } | null;
  busyMilliseconds: number;
  retention: Retention;
  keptBytesMax: number;
}

export type WriterMessage = { batch: Batch } | { isLast: true };

/** The reply to each message. */
export interface WriterOutcome {
  /** What keeps batches from being written; null where nothing does. */
  fault: string | null;
  /** Requests that were dropped since the previous reply. */
  lost: number;
  /** What waits to be written. */
  kept: Waiting;
}

/** What came of an attempt that no message asked for. */
export interface WriterAttempt {
  /** As the fault of an outcome. */
  again: string | null;
  kept: Waiting;
}

/** The first reply says that the thread has loaded. */
export type WriterReply = { isReady: true } | WriterOutcome | WriterAttempt;

/** SQLite is done when it returns. */
interface OpenStore {
  write(batch: Batch): void | Promise<void>;
  /** Removes some of what is too old; false where there is none. */
  tidy(now: number): boolean | Promise<boolean>;
  close(): void;
}

const { dataDir, database, busyMilliseconds, retention, keptBytesMax } =
  workerData as WriterSetting;
/** A server that is away is tried once a second, also when nothing comes that would have it tried. */
const againMilliseconds = 1000;
const port = parentPort!;
const kept = openKeptBatches(keptBytesMax);
/** Messages since the last attempt to write. */
let arrived: WriterMessage[] = [];
let store: OpenStore | undefined;
let queue = Promise.resolve();
let isTidying = false;
let again: NodeJS.Timeout | undefined;
/** Why PostgreSQL does not let this role remove what is too old, which writing would not tell. */
let tidyFault: string | null = null;

port.on("message", (message: WriterMessage) => {
  // Messages that arrive while one waits for a lock are handled together, or each would wait again and the queue grow.
  if (arrived.push(message) === 1) setImmediate(() => (queue = queue.then(answerArrived)));
});

async function answerArrived(): Promise<void> {
  const messages = arrived;
  arrived = [];
  const lost = messages.map((message) => ("batch" in message ? kept.add(message.batch) : 0));
  const isLast = "isLast" in messages.at(-1)!;
  const begun = performance.now();
  let fault = await faultOf(writeKept);
  const untilAgain = againMilliseconds - (performance.now() - begun);
  if (isLast && fault !== null && database !== null && untilAgain > 0) {
    // It may be there again, and not have been tried because it was not a moment ago; a stop waits for no second time-out.
    await wait(untilAgain);
    fault = await faultOf(writeKept);
  }
  const left = kept.waiting();
  if (isLast) lost[lost.length - 1]! += left.requests;
  const told = fault ?? tidyFault;
  for (const one of lost)
    port.postMessage({ fault: told, lost: one, kept: left } satisfies WriterOutcome);
  if (isLast) {
    clearTimeout(again);
    store?.close();
    store = undefined;
    port.close();
  } else {
    tidyAsOf(messages);
    if (fault !== null && database !== null) writeSoon();
  }
}

function writeSoon(): void {
  again ??= setTimeout(() => {
    queue = queue.then(async () => {
      again = undefined;
      if (kept.first() === undefined) return;
      const fault = await faultOf(writeKept);
      const attempt: WriterAttempt = { again: fault ?? tidyFault, kept: kept.waiting() };
      port.postMessage(attempt);
      if (fault !== null) writeSoon();
    });
  }, againMilliseconds).unref();
}

/** The time is that of the last batch of requests. */
function tidyAsOf(messages: readonly WriterMessage[]): void {
  const times = messages.flatMap((message) =>
    "batch" in message && "now" in message.batch ? [message.batch.now] : [],
  );
  if (times.length > 0 && !isTidying) tidy(times.at(-1)!);
}

/** Stops at the first failure: trying every batch again and again would keep a CPU busy. */
async function writeKept(): Promise<void> {
  for (let batch = kept.first(); batch !== undefined; batch = kept.first()) {
    store ??= await openStore();
    await store.write(batch);
    kept.drop();
    // Detaching frees it at once; this thread makes so little garbage that the collector would run megabytes too late.
    if (batch.kind === "requests") batch.rows.bytes.transfer(0);
  }
}

/** Step by step, each after the messages that arrived meanwhile. */
function tidy(now: number): void {
  isTidying = true;
  setImmediate(() => {
    queue = queue.then(async () => {
      isTidying = false;
      // An error of SQLite comes again with the next batch, which reports it.
      await faultOf(async () => {
        if ((await store?.tidy(now)) === true) tidy(now);
      });
    });
  });
}

async function openStore(): Promise<OpenStore> {
  if (database !== null) return openPostgres(database);
  const connection = await connectUsage(dataDir, busyMilliseconds);
  return {
    write: openWrites(connection, retention.logDays > 0),
    tidy: openRetention(connection, retention),
    close: () => connection.close(),
  };
}

/** Connects with the first statement, and again after an outage; a step that removes what is too old keeps to one connection. */
async function openPostgres({ url, gateMemory }: NonNullable<typeof database>): Promise<OpenStore> {
  const { connectPostgres, openGate } = await import("#store/postgres.ts");
  const { openPostgresWrites } = await import("./postgres-writes.ts");
  const { openPostgresRetention } = await import("./postgres-retention.ts");
  const place = { url, gate: openGate(gateMemory) };
  const removeOld = openPostgresRetention(retention);
  let session: PostgresSession | undefined;
  const connected = async (): Promise<PostgresSession> => {
    if (session?.isOver === false) return session;
    // As with usage.sqlite, a crash may take what was written in the last second.
    session = await connectPostgres(place, {
      name: "gp-records usage",
      settings: { synchronous_commit: "off" },
    });
    return session;
  };
  const tidyUp = async (own: PostgresSession, now: number): Promise<boolean> => {
    // A clock of ours that is ahead must not remove what others are to keep.
    const [clock] = await own.query<{ now: number }>(
      "select floor(extract(epoch from clock_timestamp()) * 1000) as now",
    );
    return removeOld(own, Math.min(now, clock!.now));
  };
  return {
    write: openPostgresWrites(
      async (text, values) => (await connected()).query(text, values),
      retention.logDays > 0,
    ),
    async tidy(now) {
      if (session === undefined || session.isOver) return false;
      try {
        const isDone = await tidyUp(session, now);
        tidyFault = null;
        return isDone;
      } catch (error) {
        if (!(error instanceof StoreFault && error.kind === "busy"))
          tidyFault = (error as Error).message;
        return false;
      }
    },
    close: () => session?.close(),
  };
}

async function faultOf(work: () => Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    const fault = sqliteFault(error, usageFile(dataDir));
    return fault instanceof Error ? fault.message : String(fault);
  }
}

const ready: WriterReply = { isReady: true };
port.postMessage(ready);
