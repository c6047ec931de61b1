/** Hands batches to the one thread that writes, so that the thread that answers requests never waits for a disk. */
import { Worker } from "node:worker_threads";
import type { WriterMessage, WriterOutcome, WriterSetting } from "./writer-thread.ts";
import type { Batch } from "./writes.ts";

export interface Writer {
  /** Returns at once. A batch that cannot be written is kept and tried again with the next one and at the end. */
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
  busyMilliseconds?: number;
}

/** Starts the thread; the store is opened with the first batch. */
export function openWriter({ dataDir, onFault, busyMilliseconds = 5000 }: WriterOptions): Writer {
  const workerData: WriterSetting = { dataDir, busyMilliseconds };
  const worker = new Worker(new URL("./writer-thread.ts", import.meta.url), { workerData });
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  let faultSaid: string | null = null;
  let unsettled = 0;
  let isClosing = false;
  let whenSettled: (() => void)[] = [];

  const say = (fault: string | null) => {
    const isNews = (fault === null) !== (faultSaid === null);
    faultSaid = fault;
    if (isNews) onFault(fault === null ? null : new Error(fault));
  };
  const settle = () => {
    for (const resolve of whenSettled) resolve();
    whenSettled = [];
  };
  const send = (message: WriterMessage) => {
    unsettled += 1;
    worker.postMessage(message);
  };

  worker.on("message", ({ fault }: WriterOutcome) => {
    say(fault);
    unsettled -= 1;
    if (unsettled === 0) settle();
  });
  worker.on("error", (error: Error) => say(`The writer thread ended: ${error.message}`));
  void ended.then(settle);

  return {
    write: (batch) => send({ batch }),
    async settled() {
      if (unsettled === 0) return;
      await Promise.race([new Promise<void>((resolve) => whenSettled.push(resolve)), ended]);
    },
    async close() {
      if (!isClosing) send({ isLast: true });
      isClosing = true;
      await ended;
    },
  };
}
