/** The thread that serves `/account`, seen from the HTTP thread: started by the first visit, asked by messages. */
import { type Transferable, Worker } from "node:worker_threads";
import type { LoadOrder } from "#datasets/load-worker.ts";
import type { Counters } from "#limits/counters.ts";
import type {
  ApiAnswer,
  QuotaRpcCall,
  QuotaRpcReply,
  ExplorerCall,
  FromAccountWorker,
  PageAnswer,
  PageRequest,
  AccountWorkerSettings,
  ToAccountWorker,
} from "./messages.ts";

interface AccountWorker {
  /** Starts the thread without waiting for a visit: it sends messages about keys and quotas, and removes old entries of the audit log. */
  open(): void;
  /** Rejects only if the thread ends; the next request starts another one. */
  answer(request: PageRequest): Promise<PageAnswer>;
  /** The records to show from now on. */
  show(dataset: LoadOrder): void;
  /** Finishes what it has begun. */
  close(): Promise<void>;
}

interface AccountWorkerOptions {
  /** Asked for when the thread is started, by when the port is known. */
  settings(): AccountWorkerSettings;
  /** Asked for when the first question comes. */
  counters(): Counters;
  /** Resolves in any case; the body is handed over. */
  answerCall(call: ExplorerCall): Promise<ApiAnswer>;
  /** Told what an operator should know. */
  reportError(error: string): void;
}

interface Waiting {
  resolve(answer: PageAnswer): void;
  reject(error: Error): void;
}

interface Staff {
  worker: Worker;
  waiting: Map<number, Waiting>;
  ended: Promise<unknown>;
}

export function openAccountWorker(options: AccountWorkerOptions): AccountWorker {
  const { settings, reportError } = options;
  let staff: Staff | null = null;
  let dataset: LoadOrder | null = null;
  let number = 0;

  const hire = (): Staff => {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), {
      workerData: settings(),
    });
    const waiting = new Map<number, Waiting>();
    const send = (message: ToAccountWorker, transferred: readonly Transferable[] = []) =>
      worker.postMessage(message, transferred);
    worker.on("message", (message: FromAccountWorker) => {
      if ("error" in message) reportError(message.error);
      else if ("answer" in message) {
        waiting.get(message.number)?.resolve(message.answer);
        waiting.delete(message.number);
      } else {
        void replyTo(options, message.question).then((reply) =>
          send({ number: message.number, reply }, "body" in reply ? [reply.body.buffer] : []),
        );
      }
    });
    worker.on("error", (error: Error) => reportError(`The account pages ended: ${error.stack}`));
    const ended = new Promise((resolve) => worker.once("exit", resolve)).then(() => {
      for (const { reject } of waiting.values())
        reject(new Error("The thread of the account pages ended."));
      if (staff?.worker === worker) staff = null;
    });
    send({ dataset });
    return { worker, waiting, ended };
  };

  return {
    open() {
      staff ??= hire();
    },
    answer(request) {
      staff ??= hire();
      const { worker, waiting } = staff;
      const message: ToAccountWorker = { number: ++number, request };
      return new Promise((resolve, reject) => {
        waiting.set(message.number, { resolve, reject });
        worker.postMessage(message);
      });
    },
    show(shown) {
      dataset = shown;
      const message: ToAccountWorker = { dataset };
      staff?.worker.postMessage(message);
    },
    async close() {
      const message: ToAccountWorker = { isLast: true };
      staff?.worker.postMessage(message);
      await staff?.ended;
    },
  };
}

async function replyTo(
  { counters, answerCall }: AccountWorkerOptions,
  question: QuotaRpcCall,
): Promise<QuotaRpcReply> {
  return question.ask === "look" ? counters().look(...question.with) : answerCall(...question.with);
}
