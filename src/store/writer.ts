/** Hands batches to the one thread that writes, so that the thread that answers requests never waits for a disk. */
import { Worker } from "node:worker_threads";
import { requestsOf, sizeOf } from "./kept-batches.ts";
import { openUnsettled } from "./unsettled.ts";
import type { Retention } from "./usage-retention.ts";
import type { WriterMessage, WriterOutcome, WriterSetting } from "./writer-thread.ts";
import type { Batch } from "./writes.ts";

export interface Writer {
  /**
   * Returns at once. A batch that cannot be written is kept and tried again with the next one and at the end; where
   * too much is kept, the oldest is given up.
   */
  write(batch: Batch): void;
  /** Resolves when everything handed over so far was written, or tried and kept. */
  settled(): Promise<void>;
  /** Tries what is kept a last time and ends the thread, which keeps the process alive until then. */
  close(): Promise<void>;
}

export interface WriterOptions {
  dataDir: string;
  /** Told once when writing begins to fail, and once, with null, when it works again. */
  onFault: (fault: Error | null) => void;
  /** Told of requests whose record was given up. */
  onLoss?: (requests: number) => void;
  busyMilliseconds?: number;
  retention?: Retention;
  /** What may wait for a disk, in bytes; as much again may be on its way to the thread. */
  keptBytesMax?: number;
}

export const retentionDefault: Retention = { logDays: 14, logRowsMax: 2_000_000 };
/** Some 800,000 requests. */
const keptBytesDefault = 64 * 1024 * 1024;

/** The thread starts with the first batch, since it takes as long to load as all that a server needs to answer. */
export function openWriter(options: WriterOptions): Writer {
  const { dataDir, onFault, onLoss = () => {}, busyMilliseconds = 5000 } = options;
  const { retention = retentionDefault, keptBytesMax = keptBytesDefault } = options;
  const setting: WriterSetting = { dataDir, busyMilliseconds, retention, keptBytesMax };
  const unsettled = openUnsettled();
  let thread: { worker: Worker; ended: Promise<void> } | null = null;
  let faultSaid: string | null = null;
  let isClosing = false;

  const say = (fault: string | null) => {
    const isNews = (fault === null) !== (faultSaid === null);
    faultSaid = fault;
    if (isNews) onFault(fault === null ? null : new Error(fault));
  };
  const lose = (requests: number) => {
    if (requests > 0) onLoss(requests);
  };
  /** What the thread had kept is gone with it, uncounted; only a fault of the program or want of memory ends it. */
  const hearEnd = () => {
    thread = null;
    lose(unsettled.abandon());
  };
  const startThread = () => {
    const worker = new Worker(new URL("./writer-thread.ts", import.meta.url), {
      workerData: setting,
    });
    const exit = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    worker.on("message", ({ fault, lost }: WriterOutcome) => {
      lose(lost);
      say(fault);
      unsettled.settle();
    });
    worker.on("error", (error: Error) => say(`The writer thread ended: ${error.message}`));
    return { worker, ended: exit.then(hearEnd) };
  };
  const send = (message: WriterMessage, bytes: number, requests: number) => {
    thread ??= startThread();
    unsettled.add(bytes, requests);
    thread.worker.postMessage(message, transferOf(message));
  };

  return {
    write(batch) {
      const [bytes, requests] = [sizeOf(batch), requestsOf(batch)];
      if (isClosing || unsettled.bytes() + bytes > keptBytesMax) lose(requests);
      else send({ batch }, bytes, requests);
    },
    settled: () => unsettled.none(),
    async close() {
      if (thread === null) return;
      const { ended } = thread;
      if (!isClosing) send({ isLast: true }, 0, 0);
      isClosing = true;
      await ended;
    },
  };
}

/** What changes hands instead of being copied. */
const transferOf = (message: WriterMessage): ArrayBuffer[] =>
  "batch" in message && message.batch.kind === "requests" ? [message.batch.rows.bytes] : [];
