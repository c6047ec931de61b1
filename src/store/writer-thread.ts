/** The thread that writes: one transaction for each batch, together with those that failed before it. */
import { parentPort, workerData } from "node:worker_threads";
import { openUsage, type UsageStore } from "./stores.ts";
import { type Batch, writeBatch } from "./writes.ts";

export interface WriterSetting {
  dataDir: string;
  busyMilliseconds: number;
}

export type WriterMessage = { batch: Batch } | { isLast: true };

/** The answer to each message; null where everything is written. */
export interface WriterOutcome {
  fault: string | null;
}

// While the disk is full batches gather here; the oldest are given up first.
const waitingBatchesMax = 10_000;

const { dataDir, busyMilliseconds } = workerData as WriterSetting;
const port = parentPort!;
const waiting: Batch[] = [];
let store: UsageStore | undefined;
let turn = Promise.resolve();

port.on("message", (message: WriterMessage) => {
  turn = turn.then(() => answer(message));
});

async function answer(message: WriterMessage): Promise<void> {
  if ("batch" in message) waiting.push(message.batch);
  if (waiting.length > waitingBatchesMax) waiting.shift();
  const outcome: WriterOutcome = { fault: await writeWaiting() };
  port.postMessage(outcome);
  if (!("isLast" in message)) return;
  await store?.close();
  port.close();
}

/** What keeps the batches from being written, in words; null if nothing does. */
async function writeWaiting(): Promise<string | null> {
  if (waiting.length === 0) return null;
  try {
    store ??= await openUsage(dataDir, busyMilliseconds);
    await store.write(async (transaction) => {
      for (const batch of waiting) await writeBatch(transaction, batch);
    });
    waiting.length = 0;
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
