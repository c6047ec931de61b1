/**
 * Sends batches to the writer thread, keeps them until they are written, and counts lost requests. No request waits.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { type Batch, type NumberedBatch, openRecorder } from "./recording.ts";
import type { Retention } from "./retention.ts";

export type Recording = ReturnType<typeof openRecording>;

export interface WriterSetting {
  dataDir: string;
  /** PostgreSQL database to write to; null for a file in `dataDir`. */
  databaseUrl: string | null;
  busyMilliseconds: number;
  retention: Retention;
  /** Id of the writer that numbers the batches. A server has a new writer each time it starts. */
  writer: string;
}

export type WriterMessage = NumberedBatch | "close";

export interface WriterReply {
  /** `failed` if another attempt may succeed; `refused` if the database does not accept the data. */
  outcome: "written" | "failed" | "refused";
  /** Reason why the batch was not written, or why old records cannot be removed; null if neither failed. */
  fault: string | null;
}

export interface WriterOptions
  extends Pick<WriterSetting, "dataDir">, Partial<Omit<WriterSetting, "dataDir" | "writer">> {
  /** Called with the fault when writes or removals begin to fail, and with null once everything works again. */
  onFault: (fault: Error | null) => void;
  /**
   * Called when a loss begins, with the number of requests lost so far, and when it ends, with the total and `isOver`
   * true.
   */
  onLoss?: (requests: number, isOver: boolean) => void;
  /** Maximum size of waiting batches, in bytes. */
  keptBytesMax?: number;
}

const retentionDefault: Retention = { logDays: 14, logRowsMax: 2_000_000 };
/** Default maximum size of waiting batches, in bytes: some 800,000 requests. */
const keptBytesDefault = 64 * 1024 * 1024;
/**
 * Longest wait for a locked file, in ms. It is short, because a batch is retried within seconds, and closing may wait
 * twice.
 */
const busyDefault = 500;
const againMilliseconds = 1000;

/** Opens a writer. Its thread starts with the first batch, because it takes as long to load as the whole server. */
export function openWriter(options: WriterOptions) {
  const { dataDir, onFault, onLoss = () => {}, busyMilliseconds = busyDefault } = options;
  const { databaseUrl = null, retention = retentionDefault } = options;
  const { keptBytesMax = keptBytesDefault } = options;
  const setting = { dataDir, databaseUrl, busyMilliseconds, retention, writer: randomUUID() };
  const kept = openKeptBatches(keptBytesMax);
  let thread: StartedThread | null = null;
  let working: Promise<void> | null = null;
  let again: NodeJS.Timeout | undefined;
  let isFailing = false;
  let lost = 0;
  let lostSinceBegun = 0;
  /** True if a batch has arrived while another is being written. */
  let hasMore = false;
  let closing: Promise<void> | null = null;

  const lose = (requests: number) => {
    if (requests > 0 && lostSinceBegun === 0) onLoss(requests, false);
    lost += requests;
    lostSinceBegun += requests;
  };
  const endLoss = () => {
    if (lostSinceBegun > 0) onLoss(lostSinceBegun, true);
    lostSinceBegun = 0;
  };
  const say = (fault: string | null) => {
    const isNews = (fault !== null) !== isFailing;
    isFailing = fault !== null;
    if (isNews) onFault(fault === null ? null : new Error(fault));
    if (fault === null) endLoss();
  };
  const endThread = (fault: string) => {
    thread = null;
    // If a batch is being written, its reply reports the fault.
    if (working === null && closing === null) say(fault);
  };
  /** Rejects if the system starts no thread, because the user already has too many. */
  const send = async (batch: NumberedBatch): Promise<WriterReply> =>
    (thread ??= startThread(setting, endThread)).write(batch);
  /** Writes the kept batches. Stops when one cannot be written, unless another has arrived meanwhile. */
  const work = async () => {
    clearTimeout(again);
    let fault: string | null = null;
    for (let next = kept.take(); next !== undefined;) {
      hasMore = false;
      const reply = await send(next).catch(notStarted);
      ({ fault } = reply);
      if (reply.outcome === "refused") {
        // Reported even if another fault is known, because the next batch may be written.
        isFailing = true;
        onFault(new Error(fault!));
        lose(next.batch.requests.count);
      }
      const isOver = reply.outcome !== "failed";
      kept.done(isOver);
      next = isOver || hasMore ? kept.take() : undefined;
    }
    say(fault);
    working = null;
    if (kept.waiting().bytes > 0) again = setTimeout(() => void start(), againMilliseconds).unref();
  };
  const start = async () => {
    if (kept.waiting().bytes > 0) working ??= work();
    await working;
  };
  const closeOnce = async () => {
    await working;
    const begun = performance.now();
    await start();
    const untilAgain = againMilliseconds - (performance.now() - begun);
    if (kept.waiting().bytes > 0 && untilAgain > 0) {
      // Tries again one second after the first attempt began, because the database may be back. An attempt that took
      // longer, such as one that timed out, is not repeated.
      await wait(untilAgain);
      await start();
    }
    clearTimeout(again);
    await thread?.close();
    lose(kept.waiting().requests);
    endLoss();
  };

  return {
    /**
     * Accepts a batch and returns at once. A batch that cannot be written is tried again with the next one, after a
     * second, and by `close`. The oldest batches are dropped if too many wait. A batch that arrives after `close` is
     * lost.
     */
    write(batch: Batch): void {
      if (closing !== null) return lose(batch.requests.count);
      lose(kept.add(batch));
      hasMore = true;
      void start();
    },
    /** Returns the number of requests that are neither written nor lost, and their approximate size in bytes. */
    waiting: kept.waiting,
    waitingBytesMax: keptBytesMax,
    /** Returns the number of requests whose records have been lost so far. */
    lostCount: () => lost,
    /** Resolves once no batch is being written: all are written or lost, or one has failed and the rest are kept. */
    async settled() {
      await working;
    },
    /**
     * Tries to write all kept batches, twice if need be, and ends the thread. The thread keeps the process alive until
     * then.
     */
    close: () => (closing ??= closeOnce()),
  };
}

const notStarted = ({ message }: Error): WriterReply => ({
  outcome: "failed",
  fault: `The thread that saves usage cannot be started: ${message}`,
});

type StartedThread = ReturnType<typeof startThread>;

/** Maximum size of V8's young generation, in MB. By default, 32 MB would fill with garbage before each collection. */
const youngGenerationMegabytes = 4;

function startThread(setting: WriterSetting, onEnd: (fault: string) => void) {
  const worker = new Worker(new URL("./writer-worker.ts", import.meta.url), {
    workerData: setting,
    resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMegabytes },
  });
  const post = (message: WriterMessage) => worker.postMessage(message);
  let fault = "The thread that saves usage ended.";
  const ended = Promise.withResolvers<void>();
  let answered = Promise.withResolvers<WriterReply>();
  worker.on("message", (reply: WriterReply) => answered.resolve(reply));
  worker.on("error", ({ message }) => (fault = `The thread that saves usage ended: ${message}`));
  worker.once("exit", () => {
    onEnd(fault);
    answered.resolve({ outcome: "failed", fault });
    ended.resolve();
  });
  return {
    /** Sends a batch. Only one may be under way. Resolves once it is written or has failed, or the thread has ended. */
    write(batch: NumberedBatch): Promise<WriterReply> {
      answered = Promise.withResolvers();
      // The batch is copied, so that it is not lost if the thread ends.
      post(batch);
      return answered.promise;
    },
    close() {
      post("close");
      return ended.promise;
    },
  };
}

/** Approximate memory use of a word or of a key's last use, in bytes. */
const wordBytes = 200;

/** Returns a batch's approximate memory use, in bytes. */
export const sizeOf = ({ keyUse, requests }: Batch): number =>
  requests.bytes.byteLength + wordBytes * (requests.words.length + keyUse.length);

/**
 * Opens a queue of batches to be written, within a memory limit. The oldest are dropped first, but never one being
 * written.
 */
export function openKeptBatches(bytesMax: number) {
  const batches: NumberedBatch[] = [];
  let number = 0;
  let bytes = 0;
  let taken = 0;
  const remove = (place: number): Batch => {
    const [gone] = batches.splice(place, 1);
    bytes -= sizeOf(gone!.batch);
    return gone!.batch;
  };
  return {
    /** Adds a batch. Returns the number of requests dropped to make room. */
    add(batch: Batch): number {
      batches.push({ number: ++number, batch });
      bytes += sizeOf(batch);
      let dropped = 0;
      while (bytes > bytesMax && batches.length > taken) dropped += remove(taken).requests.count;
      return dropped;
    },
    /** Returns the first batch, which is not dropped until `done` is called. Returns undefined if there is none. */
    take(): NumberedBatch | undefined {
      taken = Math.min(1, batches.length);
      return batches[0];
    },
    /** Ends an attempt to write the first batch. @param isOver true to drop it, false to keep it for a retry. */
    done(isOver: boolean) {
      taken = 0;
      if (!isOver) return;
      // Detaching frees the bytes at once. This code makes so little garbage that the collector would free them far too
      // late.
      remove(0).requests.bytes.transfer(0);
    },
    /** Returns the number of requests in all kept batches, and the batches' approximate memory use in bytes. */
    waiting: () => ({
      requests: batches.reduce((sum, { batch }) => sum + batch.requests.count, 0),
      bytes,
    }),
  };
}

/** Opens usage recording: a recorder and its writer. @param options `now` returns milliseconds since 1970. */
export function openRecording({ now, ...options }: WriterOptions & { now: () => number }) {
  const { write, ...writer } = openWriter(options);
  const recorder = openRecorder(write, now);
  return {
    ...recorder,
    ...writer,
    /** Writes the remaining records. Resolves once they are written or lost. */
    async close() {
      recorder.close();
      await writer.close();
    },
  };
}
