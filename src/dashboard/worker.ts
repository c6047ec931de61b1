/** The account worker: a thread that answers page requests, explains records and runs jobs, with stores of its own. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { forgetOld } from "#accounts/sessions.ts";
import { openPasswords } from "#accounts/passwords.ts";
import { explainPublished } from "#datasets/evidence.ts";
import { openChangesReader } from "#datasets/joined-steps.ts";
import { loadGeneration } from "#datasets/served.ts";
import type { LoadOrder } from "#datasets/load-worker.ts";
import type { QuotaStatus } from "#limits/counters.ts";
import type { Explained } from "#records/explanation.ts";
import { openReadModel, type ReadModel } from "#search/read-model.ts";
import { removeOldAudit } from "#store/audit.ts";
import { hourMilliseconds } from "#store/durations.ts";
import { openControl, openSharedStores, openUsage } from "#store/stores.ts";
import { answerRequest } from "./answer-request.ts";
import { openMailer } from "./mailer.ts";
import {
  type FromAccountWorker,
  type AccountWorkerSettings,
  type LookAtQuota,
  type PageRequest,
  type TakeQuota,
  type ToAccountWorker,
} from "./messages.ts";
import { openPersonLimiter } from "./person-limits.ts";
import type { AccountServices } from "./screen.ts";
import { routes } from "./screens/index.ts";
import { watchNotices } from "./watch-notices.ts";

const settings = workerData as AccountWorkerSettings;
const port = parentPort!;
const send = (message: FromAccountWorker) => port.postMessage(message);
const reportError = (error: string) => send({ error });
/** Dataset to show; null until the HTTP thread sends one. */
let shown: LoadOrder | null = null;
/** Records of `shown`; null until a page needs them. */
let model: ReadModel | null = null;
let { browse } = settings;
/** Callbacks for questions about quotas that the HTTP thread has not answered yet, by the question's number. */
const asked = new Map<number, (status: QuotaStatus | null) => void>();
let askedNumber = 0;
const underWay = new Set<Promise<void>>();
const services: Promise<AccountServices> = openServices();
const isOver = new AbortController();

/**
 * A job that every instance runs, even while another runs it. This is safe: a notice is recorded before it is mailed,
 * so none is mailed twice, and any instance may delete old rows.
 */
interface Job {
  isWanted: boolean;
  everyMilliseconds: number;
  /** True if the job also runs when this thread starts. */
  isDoneAtOnce: boolean;
  run(services: AccountServices): Promise<unknown>;
  /** Text before the reason in a failure report. */
  failure: string;
}

const jobs: readonly Job[] = [
  {
    isWanted: settings.smtpUrl !== null,
    everyMilliseconds: 600_000,
    isDoneAtOnce: true,
    run: (opened) =>
      watchNotices({ ...opened, base: settings.linkBase }, Date.now(), isOver.signal),
    failure: "Owners could not be mailed their notices; the next attempt is in 10 minutes",
  },
  {
    isWanted: settings.auditDays > 0,
    everyMilliseconds: hourMilliseconds,
    isDoneAtOnce: true,
    run: ({ control }) =>
      removeOldAudit(control, {
        days: settings.auditDays,
        now: Date.now(),
        signal: isOver.signal,
      }),
    failure: "Old audit entries could not be removed; the next attempt is in an hour",
  },
  {
    isWanted: true,
    everyMilliseconds: hourMilliseconds,
    isDoneAtOnce: false,
    run: ({ control }) => forgetOld(control, Date.now()),
    failure: "Ended sessions and old links could not be removed; the next attempt is in an hour",
  },
];
const wantedJobs = jobs.filter(({ isWanted }) => isWanted);
const timers = wantedJobs.map((job) => setInterval(() => runJob(job), job.everyMilliseconds));
for (const job of wantedJobs) if (job.isDoneAtOnce) runJob(job);

function runJob({ run, failure }: Job): void {
  const report = (error: Error) => reportError(`${failure}: ${error.message}`);
  track(services.then(run).then(() => {}, report));
}

async function openServices(): Promise<AccountServices> {
  const { dataDir, databaseUrl } = settings;
  // The HTTP thread has already checked the schema. A check here would fail while PostgreSQL is unreachable.
  const { control, usage } =
    databaseUrl === null
      ? { control: await openControl(dataDir), usage: await openUsage(dataDir) }
      : await openSharedStores(databaseUrl);
  return {
    settings,
    control,
    usage,
    passwords: openPasswords(),
    mailer: await openMailer(settings, reportError),
    lookAtQuota: async (...look) => (await askQuota({ look }))!,
    takeQuota: (...take) => askQuota({ take }),
    personLimiter: openPersonLimiter(),
    changes: openChangesReader(join(dataDir, "datasets")),
    model: readModel,
    explain,
    browse: () => browse,
    reportError,
  };
}

const askQuota = (
  question: { look: Parameters<LookAtQuota> } | { take: Parameters<TakeQuota> },
): Promise<QuotaStatus | null> =>
  new Promise((resolve) => {
    asked.set(++askedNumber, resolve);
    send({ number: askedNumber, ...question });
  });

/**
 * Returns the records, or null if no dataset is shown or its file cannot be read. Reads the file when a page first
 * needs the records, because most people come only for their keys. Does not use the HTTP thread's read model, because
 * copying it would block that thread.
 */
function readModel(): ReadModel | null {
  if (model === null && shown !== null)
    try {
      model = openReadModel(loadGeneration(shown.path, shown.generation));
    } catch (error) {
      reportError(
        `The pages cannot show the records of ${shown.path}: ${(error as Error).message}`,
      );
    }
  return model;
}

/** Explains a record: see `Explained` for the results. Returns null also if no dataset is shown. Reports errors. */
function explain(id: string): Explained {
  // A suppression removed this dataset, and the next one is about to be shown.
  if (shown !== null && !existsSync(shown.path)) return "gone";
  try {
    return shown && explainPublished(shown.path, shown.generation, id);
  } catch (error) {
    reportError((error as Error).message);
    return undefined;
  }
}

function track(work: Promise<void>): void {
  const tracked = work.finally(() => underWay.delete(tracked));
  underWay.add(tracked);
}

port.on("message", (message: ToAccountWorker) => {
  if ("request" in message) track(serve(message.number, message.request));
  else if ("explain" in message) send({ number: message.number, answer: explain(message.explain) });
  else if ("status" in message) {
    asked.get(message.number)?.(message.status);
    asked.delete(message.number);
  } else if ("dataset" in message) {
    shown = message.dataset;
    browse = message.browse;
    model = null;
  } else void close();
});

async function serve(number: number, request: PageRequest): Promise<void> {
  send({ number, answer: await answerRequest(await services, routes, request) });
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
