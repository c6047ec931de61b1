/** The accountWorker itself: a thread with the stores open, which answers visits one beside the other. */
import { parentPort, workerData } from "node:worker_threads";
import { forgetOld } from "#accounts/forget-old.ts";
import { openPasswords } from "#accounts/passwords.ts";
import { loadGeneration } from "#datasets/load.ts";
import type { LoadOrder } from "#datasets/load-worker.ts";
import type { QuotaStatus } from "#limits/counters.ts";
import { openReadModel, type ReadModel } from "#search/read-model.ts";
import { removeOldAudit } from "#store/audit.ts";
import { hourMilliseconds } from "#store/durations.ts";
import { openControl, openUsage } from "#store/stores.ts";
import { answerRequest } from "./answer-request.ts";
import { openMailer } from "./mailer.ts";
import type {
  ApiAnswer,
  QuotaRpc,
  QuotaRpcCall,
  QuotaRpcReply,
  FromAccountWorker,
  AccountWorkerSettings,
  ToAccountWorker,
} from "./messages.ts";
import { openPersonLimiter } from "./person-limits.ts";
import type { AccountServices } from "./request.ts";
import { routes } from "./screens/index.ts";
import { watchNotices } from "./watch-notices.ts";

const forgetEveryMilliseconds = hourMilliseconds;
const watchEveryMilliseconds = 600_000;

const settings = workerData as AccountWorkerSettings;
const port = parentPort!;
const say = (message: FromAccountWorker) => port.postMessage(message);
const reportError = (error: string) => say({ error });
const quotaRpc = openQuotaRpc((number, question) => say({ number, question }));
const dataset = openOwnModel(reportError);
const personLimiter = openPersonLimiter();
const underWay = new Set<Promise<void>>();

const services: Promise<AccountServices> = openRooms();
const isOver = new AbortController();
const timers = [
  setInterval(() => void forget(Date.now()), forgetEveryMilliseconds),
  setInterval(() => attend(shortenAudit(Date.now())), forgetEveryMilliseconds),
  setInterval(() => attend(watch()), watchEveryMilliseconds),
];
attend(watch());
attend(shortenAudit(Date.now()));

async function openRooms(): Promise<AccountServices> {
  const control = await openControl(settings.dataDir);
  const usage = await openUsage(settings.dataDir);
  const mailer = await openMailer(settings, reportError);
  const passwords = openPasswords();
  return {
    settings,
    control,
    usage,
    passwords,
    mailer,
    quotaRpc,
    personLimiter,
    model: dataset.model,
    reportError,
  };
}

async function forget(now: number): Promise<void> {
  personLimiter.forgetIdle();
  await forgetOld((await services).control, now).catch((error: Error) =>
    reportError(`What has ended could not be removed: ${error.message}`),
  );
}

async function shortenAudit(now: number): Promise<void> {
  if (settings.auditDays === 0) return;
  const order = { days: settings.auditDays, now, signal: isOver.signal };
  await removeOldAudit((await services).control, order).catch((error: Error) =>
    reportError(`Old entries of the audit log could not be removed: ${error.message}`),
  );
}

async function watch(): Promise<void> {
  const { linkBase: base } = settings;
  await watchNotices({ ...(await services), base }, Date.now(), isOver.signal).catch(
    (error: Error) => reportError(`Notices could not be sent: ${error.message}`),
  );
}

function attend(work: Promise<void>): void {
  const attended = work.finally(() => underWay.delete(attended));
  underWay.add(attended);
}

port.on("message", (message: ToAccountWorker) => {
  if ("request" in message) attend(serve(message));
  else if ("reply" in message) quotaRpc.hear(message.number, message.reply);
  else if ("dataset" in message) dataset.show(message.dataset);
  else void close();
});

async function serve({
  number,
  request,
}: Extract<ToAccountWorker, { request: unknown }>): Promise<void> {
  say({ number, answer: await answerRequest(await services, routes, request) });
}

async function close(): Promise<void> {
  for (const timer of timers) clearInterval(timer);
  isOver.abort();
  await Promise.all(underWay);
  const { control, usage, mailer } = await services;
  await mailer.close();
  await control.close();
  await usage.close();
  port.close();
}

/** The office's side of the quotaRpc: asks the HTTP thread, and waits for its word. */
interface QuotaRpcClient extends QuotaRpc {
  /** The word to an earlier question. */
  hear(number: number, reply: QuotaRpcReply): void;
}

/** @param ask sends a question under a number. */
function openQuotaRpc(ask: (number: number, question: QuotaRpcCall) => void): QuotaRpcClient {
  const open = new Map<number, (reply: QuotaRpcReply) => void>();
  let number = 0;
  /** @param question decides what the reply is. */
  const put = <R extends QuotaRpcReply>(question: QuotaRpcCall) =>
    new Promise<R>((resolve) => {
      open.set(++number, (reply) => resolve(reply as R));
      ask(number, question);
    });
  return {
    call: (call) => put<ApiAnswer>({ ask: "call", with: [call] }),
    look: (account, quotas) => put<QuotaStatus>({ ask: "look", with: [account, quotas] }),
    hear(answered, reply) {
      open.get(answered)?.(reply);
      open.delete(answered);
    },
  };
}

/** The records as the accountWorker sees them: read from the dataset's file by itself, once a page asks for them. */
interface OwnModel {
  /** Null while there is no dataset, or it cannot be read. */
  model(): ReadModel | null;
  /** Another dataset from now on. */
  show(dataset: LoadOrder | null): void;
}

/**
 * What the HTTP thread has cannot be shared without a copy, which it would have to wait for; and most who visit come
 * for their keys.
 */
function openOwnModel(reportError: (error: string) => void): OwnModel {
  let shown: LoadOrder | null = null;
  let model: ReadModel | null = null;
  return {
    model() {
      if (model === null && shown !== null)
        try {
          model = openReadModel(loadGeneration(shown.path, shown.generation));
        } catch (error) {
          reportError(`The account pages cannot show the records: ${(error as Error).message}`);
        }
      return model;
    },
    show(dataset) {
      shown = dataset;
      model = null;
    },
  };
}
