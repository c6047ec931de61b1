/** The thread that writes, as the thread that hands it batches sees it. */
import { Worker } from "node:worker_threads";
import type { WriterMessage, WriterOutcome, WriterSaying, WriterSetting } from "./writer-thread.ts";

export interface StartedThread {
  /** Batches that are handed to a thread which is not ready are lost, should it fail to load. */
  isReady(): boolean;
  /** Resolves when it is ready, or has ended before. */
  started: Promise<void>;
  ended: Promise<void>;
  post(message: WriterMessage): void;
}

interface ThreadListener {
  onReady(): void;
  onOutcome(outcome: WriterOutcome): void;
  /** It ends for it. */
  onFault(fault: Error): void;
  onEnd(): void;
}

export function startThread(setting: WriterSetting, listener: ThreadListener): StartedThread {
  const worker = new Worker(new URL("./writer-thread.ts", import.meta.url), {
    workerData: setting,
  });
  let isReady = false;
  const exit = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  const ready = new Promise<void>((resolve) =>
    worker.on("message", (said: WriterSaying) => {
      if ("fault" in said) return listener.onOutcome(said);
      isReady = true;
      resolve();
      listener.onReady();
    }),
  );
  worker.on("error", listener.onFault);
  return {
    isReady: () => isReady,
    started: Promise.race([ready, exit]),
    ended: exit.then(listener.onEnd),
    post: (message) => worker.postMessage(message, transferOf(message)),
  };
}

/** What changes hands instead of being copied. */
const transferOf = (message: WriterMessage): ArrayBuffer[] =>
  "batch" in message && message.batch.kind === "requests" ? [message.batch.rows.bytes] : [];
