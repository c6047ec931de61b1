/** The writer thread: one transaction for each batch, after those that failed before it. */
import { parentPort, workerData } from "node:worker_threads";
import { usageFile } from "#store/files.ts";
import { sqliteFault } from "#store/store-fault.ts";
import { connectUsage } from "./connection.ts";
import { openKeptBatches } from "./kept-batches.ts";
import { openRetention, type Retention } from "./retention.ts";
import { type Batch, openWrites } from "./writes.ts";

export interface WriterSetting {
  dataDir: string;
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
}

/** The first reply says that the thread has loaded. */
export type WriterReply = { isReady: true } | WriterOutcome;

interface OpenStore {
  write(batch: Batch): void;
  /** Puts some of what was written in order, or removes some that is too old; false where there is none. */
  tidy(now: number): boolean;
  close(): void;
}

const { dataDir, busyMilliseconds, retention, keptBytesMax } = workerData as WriterSetting;
const port = parentPort!;
const kept = openKeptBatches(keptBytesMax);
/** Messages since the last attempt to write. */
let arrived: WriterMessage[] = [];
let store: OpenStore | undefined;
let queue = Promise.resolve();
let isTidying = false;

port.on("message", (message: WriterMessage) => {
  // Messages that arrive while one waits for a lock are handled together, or each would wait again and the queue grow.
  if (arrived.push(message) === 1) setImmediate(() => (queue = queue.then(answerArrived)));
});

async function answerArrived(): Promise<void> {
  const messages = arrived;
  arrived = [];
  const lost = messages.map((message) => ("batch" in message ? kept.add(message.batch) : 0));
  const fault = await faultOf(writeKept);
  const isLast = "isLast" in messages.at(-1)!;
  if (isLast) lost[lost.length - 1]! += kept.requests();
  for (const one of lost) port.postMessage({ fault, lost: one } satisfies WriterOutcome);
  if (isLast) {
    store?.close();
    store = undefined;
    port.close();
  } else tidyAsOf(messages);
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
    store.write(batch);
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
      // An error here comes again with the next batch, which reports it.
      await faultOf(async () => {
        if (store?.tidy(now) === true) tidy(now);
      });
    });
  });
}

async function openStore(): Promise<OpenStore> {
  const connection = await connectUsage(dataDir, busyMilliseconds);
  return {
    write: openWrites(connection, retention.logDays > 0),
    tidy: openRetention(connection, retention),
    close: () => connection.close(),
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
