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

/** The thread starts with the first batch, since it takes as long to load as all that a server needs to answer. */
export function openWriter({ dataDir, onFault, busyMilliseconds = 5000 }: WriterOptions): Writer {
  let thread: { worker: Worker; ended: Promise<void> } | null = null;
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
  const startThread = () => {
    const workerData: WriterSetting = { dataDir, busyMilliseconds };
    const worker = new Worker(new URL("./writer-thread.ts", import.meta.url), { workerData });
    const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    worker.on("message", ({ fault }: WriterOutcome) => {
      say(fault);
      unsettled -= 1;
      if (unsettled === 0) settle();
    });
    worker.on("error", (error: Error) => say(`The writer thread ended: ${error.message}`));
    void ended.then(settle);
    return { worker, ended };
  };
  const send = (message: WriterMessage) => {
    thread ??= startThread();
    unsettled += 1;
    thread.worker.postMessage(message);
  };

  return {
    write: (batch) => send({ batch }),
    async settled() {
      if (unsettled === 0) return;
      await Promise.race([
        new Promise<void>((resolve) => whenSettled.push(resolve)),
        thread?.ended,
      ]);
    },
    async close() {
      if (thread === null) return;
      if (!isClosing) send({ isLast: true });
      isClosing = true;
      await thread.ended;
    },
  };
}
