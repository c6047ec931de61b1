/** The thread that serves `/account`, as the HTTP thread sees it: started on demand, spoken to by messages. */
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
  /** Starts the thread before the first request: it also mails notices and removes old entries of the audit log. */
  open(): void;
  /** Rejects only if the thread ends; the next request starts another one. */
  answer(request: PageRequest): Promise<PageAnswer>;
  /** Switches to other records. */
  show(dataset: LoadOrder): void;
  /** Returns the jobs for all instances that this one does; empty while the thread does not run. */
  jobs(): JobsDone;
  /** Lets the thread finish the requests and mail under way. */
  close(): Promise<void>;
}

interface AccountWorkerOptions {
  /** Called when the thread is started: by then the port is known. */
  settings(): AccountWorkerSettings;
  /** Called with the first look at a quota. */
  counters(): Counters;
  /** Takes what the operator should know. */
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

/** Memory for new objects. Requests of strangers would otherwise fill the 48 MB that V8 allows. */
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
    worker.on("error", (error: Error) => reportError(`The account pages ended: ${error.stack}`));
    const ended = new Promise((resolve) => worker.once("exit", resolve)).then(() => {
      for (const { reject } of waiting.values())
        reject(new Error("The thread of the account pages ended."));
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
