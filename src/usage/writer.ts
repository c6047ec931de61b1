/** Hands batches to the one thread that writes, so that the thread that answers requests never waits for a disk. */
import { Worker } from "node:worker_threads";
import { openKeptBatches, requestsOf, sizeOf } from "./kept-batches.ts";
import type { Retention } from "./retention.ts";
import type { WriterMessage, WriterOutcome, WriterSaying, WriterSetting } from "./writer-thread.ts";
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

const retentionDefault: Retention = { logDays: 14, logRowsMax: 2_000_000 };
/** Some 800,000 requests. */
const keptBytesDefault = 64 * 1024 * 1024;

/** Short, for a batch that has to wait is tried again within seconds, and a stop waits for two tries. */
const busyDefault = 500;

/** The thread starts with the first batch, since it takes as long to load as all that a server needs to answer. */
export function openWriter(options: WriterOptions): Writer {
  const { dataDir, onFault, onLoss = () => {}, busyMilliseconds = busyDefault } = options;
  const { retention = retentionDefault, keptBytesMax = keptBytesDefault } = options;
  const setting: WriterSetting = { dataDir, busyMilliseconds, retention, keptBytesMax };
  const unsettled = openUnsettled();
  /** A thread that cannot be started, for want of a file descriptor say, takes nothing with it. */
  const waiting = openKeptBatches(keptBytesMax);
  let thread: StartedThread | null = null;
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
  const send = ({ post }: StartedThread, batch: Batch) => {
    const [bytes, requests] = [sizeOf(batch), requestsOf(batch)];
    if (unsettled.bytes() + bytes > keptBytesMax) return lose(requests);
    unsettled.add(bytes, requests);
    post({ batch });
  };
  const sendWaiting = (to: StartedThread) => {
    for (let batch = waiting.first(); batch !== undefined; batch = waiting.first()) {
      // Before it changes hands, when it has a size.
      waiting.drop();
      send(to, batch);
    }
  };
  const start = (): StartedThread => {
    const begun = startThread(setting, {
      onReady: () => sendWaiting(begun),
      onOutcome({ fault, lost }) {
        lose(lost);
        say(fault);
        unsettled.settle();
      },
      onFault: ({ message }) => say(`The writer thread ended: ${message}`),
      /** What it had kept is gone with it, uncounted; once it is ready, only a fault of the program or want of memory ends it. */
      onEnd() {
        thread = null;
        lose(unsettled.abandon());
      },
    });
    return begun;
  };

  return {
    write(batch) {
      if (isClosing) return lose(requestsOf(batch));
      thread ??= start();
      if (thread.isReady()) send(thread, batch);
      else lose(waiting.add(batch));
    },
    async settled() {
      await thread?.started;
      await unsettled.none();
    },
    async close() {
      if (isClosing) return thread?.ended;
      isClosing = true;
      if (waiting.first() !== undefined) thread ??= start();
      await thread?.started;
      if (thread !== null) {
        const { ended, post } = thread;
        unsettled.add(0, 0);
        post({ isLast: true });
        await ended;
      }
      lose(waiting.requests());
    },
  };
}

/** The thread that writes, as the thread that hands it batches sees it. */
interface StartedThread {
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

function startThread(setting: WriterSetting, listener: ThreadListener): StartedThread {
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

/** Batches on their way to the thread that writes, which has not answered them yet. */
interface Unsettled {
  add(bytes: number, requests: number): void;
  /** The oldest was answered. */
  settle(): void;
  /** None will be answered any more. @returns how many requests they held. */
  abandon(): number;
  bytes(): number;
  /** Resolves when there are none. */
  none(): Promise<void>;
}

function openUnsettled(): Unsettled {
  let batches: { bytes: number; requests: number }[] = [];
  let bytes = 0;
  let waiting: (() => void)[] = [];

  const tellIfNone = () => {
    if (batches.length > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  return {
    add(more, requests) {
      batches.push({ bytes: more, requests });
      bytes += more;
    },
    settle() {
      bytes -= batches.shift()!.bytes;
      tellIfNone();
    },
    abandon() {
      const requests = batches.reduce((sum, batch) => sum + batch.requests, 0);
      batches = [];
      bytes = 0;
      tellIfNone();
      return requests;
    },
    bytes: () => bytes,
    async none() {
      if (batches.length > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
