/** The account worker as the HTTP thread sees it: a thread that starts on demand and exchanges messages. */
import { Worker } from "node:worker_threads";
import type { LoadOrder } from "#datasets/load-worker.ts";
import type { Counters } from "#limits/counters.ts";
import type {
  JobsDone,
  FromAccountWorker,
  PageAnswer,
  PageRequest,
  AccountWorkerSettings,
  ToAccountWorker,
} from "./messages.ts";

interface AccountWorker {
  /** Starts the thread before the first request, so that jobs run even if nobody opens a page. */
  open(): void;
  /** Answers a request. Rejects only if the thread ends; the next request starts another thread. */
  answer(request: PageRequest): Promise<PageAnswer>;
  /** Tells the thread which dataset to show. */
  show(dataset: LoadOrder): void;
  /** Returns, for each shared job, whether this instance does it. Empty until the thread has reported. */
  jobs(): JobsDone;
  /** Ends the thread after the requests and jobs under way. Waits at most 1.5 s for mail. */
  close(): Promise<void>;
}

interface AccountWorkerOptions {
  /** Returns the thread's settings. Called each time the thread starts, because the port is known only then. */
  settings(): AccountWorkerSettings;
  /** Returns the counters. Called for each quota lookup. */
  counters(): Counters;
  /** Receives messages for the operator. */
  reportError(error: string): void;
}

interface Waiting {
  resolve(answer: PageAnswer): void;
  reject(error: Error): void;
}

interface RunningThread {
  send(message: ToAccountWorker): void;
  waiting: Map<number, Waiting>;
  jobs: JobsDone;
  ended: Promise<unknown>;
}

/** Memory limit for new objects, in MB. Otherwise strangers' requests would fill the 48 MB that V8 allows. */
const youngGenerationMegabytes = 8;

export function openAccountWorker(options: AccountWorkerOptions): AccountWorker {
  const { settings, counters, reportError } = options;
  let thread: RunningThread | null = null;
  let dataset: LoadOrder | null = null;
  let number = 0;

  const start = (): RunningThread => {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMegabytes },
      workerData: settings(),
    });
    const waiting = new Map<number, Waiting>();
    const send = (message: ToAccountWorker) => worker.postMessage(message);
    worker.on("message", (message: FromAccountWorker) => {
      if ("error" in message) reportError(message.error);
      else if ("jobs" in message) started.jobs = message.jobs;
      else if ("answer" in message) {
        waiting.get(message.number)?.resolve(message.answer);
        waiting.delete(message.number);
      } else {
        const { number: asked, look } = message;
        void Promise.resolve(counters().look(look.account, look.quotas)).then((status) =>
          send({ number: asked, status }),
        );
      }
    });
    worker.on("error", (error: Error) => reportError(`The account worker ended: ${error.stack}`));
    const ended = new Promise((resolve) => worker.once("exit", resolve)).then(() => {
      for (const { reject } of waiting.values()) reject(new Error("The account worker ended."));
      if (thread === started) thread = null;
    });
    const started: RunningThread = { send, waiting, jobs: {}, ended };
    send({ dataset });
    return started;
  };

  return {
    open() {
      thread ??= start();
    },
    answer(request) {
      thread ??= start();
      const { send, waiting } = thread;
      const own = ++number;
      return new Promise((resolve, reject) => {
        waiting.set(own, { resolve, reject });
        send({ number: own, request });
      });
    },
    show(shown) {
      dataset = shown;
      thread?.send({ dataset });
    },
    jobs: () => thread?.jobs ?? {},
    async close() {
      thread?.send({ isLast: true });
      await thread?.ended;
    },
  };
}
