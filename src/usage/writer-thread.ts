/** The thread that writes: one transaction for each batch, after those that failed before it. */
import { parentPort, workerData } from "node:worker_threads";
import { usageFile } from "#store/files.ts";
import { sqliteFault } from "#store/sqlite-fault.ts";
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

/** The answer to each message. */
export interface WriterOutcome {
  /** What keeps batches from being written; null where nothing does. */
  fault: string | null;
  /** Requests that were given up since the answer before. */
  lost: number;
}

/** The first thing said is that all of the thread is loaded. */
export type WriterSaying = { isReady: true } | WriterOutcome;

interface OpenStore {
  write(batch: Batch): void;
  /** Removes a little of what is too old; false where nothing is. */
  remove(now: number): boolean;
  close(): void;
}

const { dataDir, busyMilliseconds, retention, keptBytesMax } = workerData as WriterSetting;
const port = parentPort!;
const kept = openKeptBatches(keptBytesMax);
/** What came since the last try. */
let arrived: WriterMessage[] = [];
let store: OpenStore | undefined;
let turn = Promise.resolve();
let isRemoving = false;

port.on("message", (message: WriterMessage) => {
  // All that came while a try waited for a lock shares the next one, or each would wait anew and the queue grow.
  if (arrived.push(message) === 1) setImmediate(() => (turn = turn.then(answerArrived)));
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
  } else removeAsOf(messages);
}

/** The last requests that came tell what time it is. */
function removeAsOf(messages: readonly WriterMessage[]): void {
  const times = messages.flatMap((message) =>
    "batch" in message && "now" in message.batch ? [message.batch.now] : [],
  );
  if (times.length > 0 && !isRemoving) removeFrom(times.at(-1)!);
}

/** Stops at the first that fails: to try them all again and again would keep a processor busy. */
async function writeKept(): Promise<void> {
  for (let batch = kept.first(); batch !== undefined; batch = kept.first()) {
    store ??= await openStore();
    store.write(batch);
    kept.drop();
    // Detached, it is gone; this thread makes so little garbage that the collector would come megabytes too late.
    if (batch.kind === "requests") batch.rows.bytes.transfer(0);
  }
}

/** Step by step, each behind the messages that came meanwhile. */
function removeFrom(now: number): void {
  isRemoving = true;
  setImmediate(() => {
    turn = turn.then(async () => {
      isRemoving = false;
      // What fails here fails for the next batch too, which tells it.
      await faultOf(async () => {
        if (store?.remove(now) === true) removeFrom(now);
      });
    });
  });
}

async function openStore(): Promise<OpenStore> {
  const connection = await connectUsage(dataDir, busyMilliseconds);
  return {
    write: openWrites(connection, retention.logDays > 0),
    remove: openRetention(connection, retention),
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

const ready: WriterSaying = { isReady: true };
port.postMessage(ready);
