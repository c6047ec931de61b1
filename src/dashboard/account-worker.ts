/** The account worker as the HTTP thread sees it: a thread that starts on demand and exchanges messages. */
import { Worker } from "node:worker_threads";
import type { Config } from "#config.ts";
import type { LoadOrder } from "#datasets/load-worker.ts";
import type { Counters } from "#limits/counters.ts";
import { unavailable } from "#problems.ts";
import { type Explained, goneText } from "#records/explanation.ts";
import type {
  WorkerTask,
  FromAccountWorker,
  PageAnswer,
  PageRequest,
  AccountWorkerSettings,
  TakeQuota,
  ToAccountWorker,
} from "./messages.ts";

interface AccountWorkerOptions {
  /** Returns the thread's settings. Called each time the thread starts, because the port is known only then. */
  settings(): AccountWorkerSettings;
  quota: { look: Counters["look"]; take: TakeQuota };
  reportError(error: string): void;
}

interface RunningThread {
  send(message: ToAccountWorker): void;
  /** Promises of the answers under way, by request number. */
  waiting: Map<number, PromiseWithResolvers<unknown>>;
  ended: Promise<unknown>;
}

/** Memory limit for new objects, in MB. V8 allows 48 MB by default, which strangers' requests would fill. */
const youngGenerationMegabytes = 8;

/**
 * Maximum number of records waiting to be explained, including those for clients that have left. With more, people
 * would wait seconds for their pages.
 */
export const explainedMax = 512;
const tooManyExplained =
  "Too many records are being explained at once. Try again when some of those requests are answered.";

export function openAccountWorker({ settings, quota, reportError }: AccountWorkerOptions) {
  let thread: RunningThread | null = null;
  let shown: ToAccountWorker | null = null;
  let number = 0;
  let explaining = 0;

  const start = (): RunningThread => {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMegabytes },
      workerData: settings(),
    });
    const waiting: RunningThread["waiting"] = new Map();
    const send = (message: ToAccountWorker) => worker.postMessage(message);
    worker.on("message", (message: FromAccountWorker) => {
      if ("error" in message) reportError(message.error);
      else if ("answer" in message) {
        waiting.get(message.number)?.resolve(message.answer);
        waiting.delete(message.number);
      } else {
        const { number: asked } = message;
        const status =
          "look" in message ? quota.look(...message.look) : quota.take(...message.take);
        void Promise.resolve(status).then((known) => send({ number: asked, status: known }));
      }
    });
    worker.on("error", (error: Error) =>
      reportError(
        `The thread that serves the account pages crashed. The next request for such a page starts it again; until then, no notices are mailed, and no old audit entries, sessions or links are removed. ${error.stack}`,
      ),
    );
    const ended = new Promise((resolve) => worker.once("exit", resolve)).then(() => {
      for (const { reject } of waiting.values()) reject(new Error("The account worker ended."));
      if (thread === started) thread = null;
    });
    const started: RunningThread = { send, waiting, ended };
    if (shown !== null) send(shown);
    return started;
  };

  const ask = <A>(asked: WorkerTask): Promise<A> => {
    thread ??= start();
    const answered = Promise.withResolvers<A>();
    thread.waiting.set(++number, answered as PromiseWithResolvers<unknown>);
    thread.send({ number, ...asked });
    return answered.promise;
  };

  return {
    /** Starts the thread before the first request, so that jobs run even if nobody opens a page. */
    open() {
      thread ??= start();
    },
    /** Answers a request. Rejects only if the thread ends; the next request starts another thread. */
    answer: (request: PageRequest) => ask<PageAnswer>({ request }),
    /**
     * Explains a record on the account worker's thread, so that the HTTP thread does not wait for the disk.
     * @throws Problem 503 if too many records are waiting, or if the dataset was removed.
     */
    async explain(id: string) {
      if (explaining === explainedMax) throw unavailable("overloaded", tooManyExplained);
      explaining++;
      try {
        const explained = await ask<Explained>({ explain: id });
        if (explained === "gone") throw unavailable("starting", goneText);
        return explained;
      } finally {
        explaining--;
      }
    },
    /** Tells the thread, now or at its start, which dataset to show and who may see it. */
    show(dataset: LoadOrder, browse: Config["browse"]) {
      shown = { dataset, browse };
      thread?.send(shown);
    },
    /** Ends the thread after the requests and jobs under way. Waits at most 1.5 s for mail. */
    async close() {
      thread?.send({ isLast: true });
      await thread?.ended;
    },
  };
}
