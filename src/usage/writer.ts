/** Sends batches to the writer thread, so that the thread that serves requests never waits for a disk. */
import { Worker } from "node:worker_threads";
import { openKeptBatches, requestsOf, sizeOf, type Waiting } from "./kept-batches.ts";
import type { Retention } from "./retention.ts";
import type {
  WriterAttempt,
  WriterMessage,
  WriterOutcome,
  WriterReply,
  WriterSetting,
} from "./writer-thread.ts";
import type { Batch } from "./writes.ts";

export interface Writer {
  /**
   * Returns at once. A batch that cannot be written is kept and tried again with the next one and at the end; where
   * too much is kept, the oldest is dropped.
   */
  write(batch: Batch): void;
  /** What was passed in and is neither written nor lost. */
  waiting(): Waiting;
  /** What may wait; as much again may be on its way to the thread. */
  bytesMax: number;
  /** Resolves when everything passed in so far was written, or tried and kept. */
  settled(): Promise<void>;
  /** Tries what is kept a last time and ends the thread, which keeps the process alive until then. */
  close(): Promise<void>;
}

export interface WriterOptions extends Partial<Pick<WriterSetting, "database">> {
  dataDir: string;
  /** Called once when writing begins to fail, and once, with null, when it works again. */
  onFault: (fault: Error | null) => void;
  /** Called with the number of requests whose record was lost. */
  onLoss?: (requests: number) => void;
  busyMilliseconds?: number;
  retention?: Retention;
  /** As `Writer.bytesMax`. */
  keptBytesMax?: number;
}

const nothing: Waiting = { requests: 0, bytes: 0 };
const retentionDefault: Retention = { logDays: 14, logRowsMax: 2_000_000 };
/** Some 800,000 requests. */
const keptBytesDefault = 64 * 1024 * 1024;

/** Short, because a batch is tried again within seconds, and a stop waits for two attempts. */
const busyDefault = 500;

/** The thread starts with the first batch, because it takes as long to load as the server itself. */
export function openWriter(options: WriterOptions): Writer {
  const { dataDir, onFault, onLoss = () => {}, busyMilliseconds = busyDefault } = options;
  const { database = null, retention = retentionDefault } = options;
  const { keptBytesMax = keptBytesDefault } = options;
  const setting = { dataDir, database, busyMilliseconds, retention, keptBytesMax };
  const unsettled = openUnsettled();
  /** Kept here until the thread is ready: one that cannot start, for lack of a file descriptor say, loses nothing. */
  const waiting = openKeptBatches(keptBytesMax);
  let thread: StartedThread | null = null;
  /** What the thread keeps, as it said last. */
  let keptThere: Waiting = nothing;
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
    if (unsettled.waiting().bytes + bytes > keptBytesMax) return lose(requests);
    unsettled.add(bytes, requests);
    post({ batch });
  };
  const sendWaiting = (to: StartedThread) => {
    for (let batch = waiting.first(); batch !== undefined; batch = waiting.first()) {
      // Before it is transferred, while it still has a size.
      waiting.drop();
      send(to, batch);
    }
  };
  const start = (): StartedThread => {
    const begun = startThread(setting, {
      onReady: () => sendWaiting(begun),
      onOutcome({ fault, lost, kept }) {
        keptThere = kept;
        lose(lost);
        say(fault);
        unsettled.settle();
      },
      onAgain({ again, kept }) {
        keptThere = kept;
        say(again);
      },
      onFault: ({ message }) => say(`The writer thread ended: ${message}`),
      /** Batches that it kept are lost uncounted; once ready, it ends only by a fault of the program or for lack of memory. */
      onEnd() {
        thread = null;
        keptThere = nothing;
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
    waiting() {
      const parts = [waiting.waiting(), unsettled.waiting(), keptThere];
      return {
        requests: parts.reduce((sum, { requests }) => sum + requests, 0),
        bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
      };
    },
    bytesMax: keptBytesMax,
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
      lose(waiting.waiting().requests);
    },
  };
}

/** The writer thread as seen from the thread that sends it batches. */
interface StartedThread {
  /** Batches sent before are lost if the thread fails to load. */
  isReady(): boolean;
  /** Resolves when it is ready, or has ended before. */
  started: Promise<void>;
  ended: Promise<void>;
  post(message: WriterMessage): void;
}

interface ThreadListener {
  onReady(): void;
  onOutcome(outcome: WriterOutcome): void;
  /** What came of an attempt between two messages. */
  onAgain(attempt: WriterAttempt): void;
  /** The thread ends because of it. */
  onFault(fault: Error): void;
  onEnd(): void;
}

/** The little garbage of a batch would otherwise fill the 32 MB that V8 lets new objects take. */
const youngGenerationMegabytes = 4;

function startThread(setting: WriterSetting, listener: ThreadListener): StartedThread {
  const worker = new Worker(new URL("./writer-thread.ts", import.meta.url), {
    workerData: setting,
    resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMegabytes },
  });
  let isReady = false;
  const exit = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  const ready = new Promise<void>((resolve) =>
    worker.on("message", (reply: WriterReply) => {
      if ("fault" in reply) return listener.onOutcome(reply);
      if ("again" in reply) return listener.onAgain(reply);
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

/** What is transferred instead of copied. */
const transferOf = (message: WriterMessage): ArrayBuffer[] =>
  "batch" in message && message.batch.kind === "requests" ? [message.batch.rows.bytes] : [];

/** Batches that were sent to the writer thread and not replied to yet. */
interface Unsettled {
  add(bytes: number, requests: number): void;
  /** The oldest was replied to. */
  settle(): void;
  /** The thread has ended. @returns how many requests they held. */
  abandon(): number;
  waiting(): Waiting;
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
  const requestsOfAll = () => batches.reduce((sum, batch) => sum + batch.requests, 0);
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
      const requests = requestsOfAll();
      batches = [];
      bytes = 0;
      tellIfNone();
      return requests;
    },
    waiting: () => ({ requests: requestsOfAll(), bytes }),
    async none() {
      if (batches.length > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
