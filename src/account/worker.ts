/** The office itself: a thread with the stores open, which answers visits one beside the other. */
import { parentPort, workerData } from "node:worker_threads";
import { forgetOld } from "#accounts/forget-old.ts";
import { openPasswords } from "#accounts/passwords.ts";
import type { LoadOrder } from "#datasets/load-worker.ts";
import { loadGeneration } from "#datasets/load.ts";
import type { Standing } from "#limits/counters.ts";
import { openReadModel, type ReadModel } from "#search/read-model.ts";
import { removeOldAudit } from "#store/audit.ts";
import { openControl, openUsage } from "#store/stores.ts";
import { answerVisit } from "./answer-request.ts";
import { openPost } from "./mailer.ts";
import type {
  ApiAnswer,
  Desk,
  DeskQuestion,
  DeskReply,
  FromOffice,
  OfficeSettings,
  ToOffice,
} from "./messages.ts";
import { openPersonLimiter } from "./person-limits.ts";
import type { Rooms } from "./request.ts";
import { routes } from "./screens/index.ts";
import { watchNotices } from "./watch-notices.ts";

const forgetEveryMilliseconds = 3_600_000;
const watchEveryMilliseconds = 600_000;

const settings = workerData as OfficeSettings;
const port = parentPort!;
const say = (message: FromOffice) => port.postMessage(message);
const complain = (complaint: string) => say({ complaint });
const desk = openDesk((number, question) => say({ number, question }));
const dataset = openOwnModel(complain);
const personLimiter = openPersonLimiter();
const underWay = new Set<Promise<void>>();

const rooms: Promise<Rooms> = openRooms();
const isOver = new AbortController();
const timers = [
  setInterval(() => void forget(Date.now()), forgetEveryMilliseconds),
  setInterval(() => attend(shortenAudit(Date.now())), forgetEveryMilliseconds),
  setInterval(() => attend(watch()), watchEveryMilliseconds),
];
attend(watch());
attend(shortenAudit(Date.now()));

async function openRooms(): Promise<Rooms> {
  const control = await openControl(settings.dataDir);
  const usage = await openUsage(settings.dataDir);
  const post = await openPost(settings, complain);
  const passwords = openPasswords();
  return {
    settings,
    control,
    usage,
    passwords,
    post,
    desk,
    personLimiter,
    model: dataset.model,
    complain,
  };
}

async function forget(now: number): Promise<void> {
  personLimiter.forgetIdle();
  await forgetOld((await rooms).control, now).catch((error: Error) =>
    complain(`What has ended could not be removed: ${error.message}`),
  );
}

async function shortenAudit(now: number): Promise<void> {
  if (settings.auditDays === 0) return;
  const order = { days: settings.auditDays, now, signal: isOver.signal };
  await removeOldAudit((await rooms).control, order).catch((error: Error) =>
    complain(`Old entries of the audit log could not be removed: ${error.message}`),
  );
}

async function watch(): Promise<void> {
  const { linkBase: base } = settings;
  await watchNotices({ ...(await rooms), base }, Date.now(), isOver.signal).catch((error: Error) =>
    complain(`Notices could not be sent: ${error.message}`),
  );
}

function attend(work: Promise<void>): void {
  const attended = work.finally(() => underWay.delete(attended));
  underWay.add(attended);
}

port.on("message", (message: ToOffice) => {
  if ("request" in message) attend(serve(message));
  else if ("reply" in message) desk.hear(message.number, message.reply);
  else if ("dataset" in message) dataset.show(message.dataset);
  else void close();
});

async function serve({ number, request }: Extract<ToOffice, { request: unknown }>): Promise<void> {
  say({ number, answer: await answerVisit(await rooms, routes, request) });
}

async function close(): Promise<void> {
  for (const timer of timers) clearInterval(timer);
  isOver.abort();
  await Promise.all(underWay);
  const { control, usage, post } = await rooms;
  await post.close();
  await control.close();
  await usage.close();
  port.close();
}

/** The office's side of the desk: asks the HTTP thread, and waits for its word. */
interface AskedDesk extends Desk {
  /** The word to an earlier question. */
  hear(number: number, reply: DeskReply): void;
}

/** @param ask sends a question under a number. */
function openDesk(ask: (number: number, question: DeskQuestion) => void): AskedDesk {
  const open = new Map<number, (reply: DeskReply) => void>();
  let number = 0;
  /** @param question decides what the reply is. */
  const put = <R extends DeskReply>(question: DeskQuestion) =>
    new Promise<R>((resolve) => {
      open.set(++number, (reply) => resolve(reply as R));
      ask(number, question);
    });
  return {
    call: (call) => put<ApiAnswer>({ ask: "call", with: [call] }),
    look: (account, quotas) => put<Standing>({ ask: "look", with: [account, quotas] }),
    hear(answered, reply) {
      open.get(answered)?.(reply);
      open.delete(answered);
    },
  };
}

/** The records as the office sees them: read from the dataset's file by itself, once a page asks for them. */
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
function openOwnModel(complain: (complaint: string) => void): OwnModel {
  let shown: LoadOrder | null = null;
  let model: ReadModel | null = null;
  return {
    model() {
      if (model === null && shown !== null)
        try {
          model = openReadModel(loadGeneration(shown.path, shown.generation));
        } catch (error) {
          complain(`The account pages cannot show the records: ${(error as Error).message}`);
        }
      return model;
    },
    show(dataset) {
      shown = dataset;
      model = null;
    },
  };
}
