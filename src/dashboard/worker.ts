/** The account worker: a thread with its own stores that answers the requests for pages for people and runs jobs. */
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { forgetOld } from "#accounts/sessions.ts";
import { openPasswords } from "#accounts/passwords.ts";
import { openChangesReader } from "#datasets/joined-steps.ts";
import { loadGeneration } from "#datasets/served.ts";
import type { LoadOrder } from "#datasets/load-worker.ts";
import type { QuotaStatus } from "#limits/counters.ts";
import { openReadModel, type ReadModel } from "#search/read-model.ts";
import { removeOldAudit } from "#store/audit.ts";
import { hourMilliseconds } from "#store/durations.ts";
import type { JobLocks } from "#store/job-locks.ts";
import {
  type ControlStore,
  openControl,
  openSharedStores,
  openUsage,
  type UsageStore,
} from "#store/stores.ts";
import { answerRequest } from "./answer-request.ts";
import { openMailer } from "./mailer.ts";
import {
  type FromAccountWorker,
  type AccountWorkerSettings,
  type Job,
  jobs,
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
/** Dataset to show; `model` holds its records once a page has needed them. */
let shown: LoadOrder | null = null;
let model: ReadModel | null = null;
let { browse } = settings;
/** Callbacks for questions about quotas that the HTTP thread has not answered yet, by the question's number. */
const asked = new Map<number, (status: QuotaStatus | null) => void>();
let askedNumber = 0;
const underWay = new Set<Promise<void>>();
const services: Promise<AccountServices> = openServices();
const isOver = new AbortController();

interface JobPlan {
  isWanted: boolean;
  everyMilliseconds: number;
  /** True if an instance also runs the job as soon as it takes the job over, not only every `everyMilliseconds`. */
  isDoneAtOnce: boolean;
  run(services: AccountServices): Promise<unknown>;
  /** Text before the reason in a failure report. */
  failure: string;
}

const plans: Record<Job, JobPlan> = {
  notices: {
    isWanted: settings.smtpUrl !== null,
    everyMilliseconds: 600_000,
    isDoneAtOnce: true,
    run: (opened) =>
      watchNotices({ ...opened, base: settings.linkBase }, Date.now(), isOver.signal),
    failure: "Notices could not be sent",
  },
  audit: {
    isWanted: settings.auditDays > 0,
    everyMilliseconds: hourMilliseconds,
    isDoneAtOnce: true,
    run: ({ control }) =>
      removeOldAudit(control, {
        days: settings.auditDays,
        now: Date.now(),
        signal: isOver.signal,
      }),
    failure: "Old entries of the audit log could not be removed",
  },
  sessions: {
    isWanted: true,
    everyMilliseconds: hourMilliseconds,
    isDoneAtOnce: false,
    run: ({ control }) => forgetOld(control, Date.now()),
    failure: "Ended sessions and links could not be removed",
  },
};
const wantedJobs = (Object.keys(plans) as Job[]).filter((job) => plans[job].isWanted);
const locks = openLocks();
const timers = wantedJobs.map((job) =>
  setInterval(() => {
    void locks.then(({ isOurs }) => isOurs(job) && track(run(plans[job])));
  }, plans[job].everyMilliseconds),
);

async function run(plan: JobPlan): Promise<void> {
  await plan
    .run(await services)
    .catch((error: Error) => reportError(`${plan.failure}: ${error.message}`));
}

/** Keeps trying to take the wanted jobs' locks. Without PostgreSQL, this instance is the only one and does all jobs. */
async function openLocks(): Promise<JobLocks<Job>> {
  const onTaken = (job: Job) =>
    plans[job].isDoneAtOnce && !isOver.signal.aborted && track(run(plans[job]));
  const { database } = settings;
  if (database === null) {
    for (const job of wantedJobs) onTaken(job);
    return { isOurs: () => true, close() {} };
  }
  const { openGate } = await import("#store/postgres.ts");
  const { openJobLocks } = await import("#store/job-locks.ts");
  const place = { url: database.url, gate: openGate(database.gateMemory) };
  const onChange = (ours: readonly Job[]) =>
    send({ jobs: Object.fromEntries(wantedJobs.map((job) => [job, ours.includes(job)])) });
  onChange([]);
  return openJobLocks(place, wantedJobs, jobs, { onTaken, onChange });
}

async function openServices(): Promise<AccountServices> {
  const { control, usage } = await openStores();
  return {
    settings,
    control,
    usage,
    passwords: openPasswords(),
    mailer: await openMailer(settings, reportError),
    lookAtQuota: async (...look) => (await askQuota({ look }))!,
    takeQuota: (...take) => askQuota({ take }),
    personLimiter: openPersonLimiter(),
    changes: openChangesReader(join(settings.dataDir, "datasets")),
    model: readModel,
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
 * Returns the records. This thread reads them from the dataset's file when a page first needs them. Returns null if no
 * dataset is served or its file cannot be read. Sharing the HTTP thread's read model would require a copy that blocks
 * that thread, and most people come only for their keys.
 */
function readModel(): ReadModel | null {
  if (model === null && shown !== null)
    try {
      model = openReadModel(loadGeneration(shown.path, shown.generation));
    } catch (error) {
      reportError(`The account pages cannot show the records: ${(error as Error).message}`);
    }
  return model;
}

/** Opens the stores. PostgreSQL may be unreachable at the moment; the HTTP thread has already checked its schema. */
async function openStores(): Promise<{ control: ControlStore; usage: UsageStore }> {
  const { dataDir, database } = settings;
  if (database === null)
    return { control: await openControl(dataDir), usage: await openUsage(dataDir) };
  const { openGate } = await import("#store/postgres.ts");
  return openSharedStores({ url: database.url, gate: openGate(database.gateMemory) });
}

function track(work: Promise<void>): void {
  const tracked = work.finally(() => underWay.delete(tracked));
  underWay.add(tracked);
}

port.on("message", (message: ToAccountWorker) => {
  if ("request" in message) track(serve(message.number, message.request));
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
  (await locks).close();
  await control.close();
  await usage.close();
  port.close();
}
