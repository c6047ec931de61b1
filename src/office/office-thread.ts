/** The office itself: a thread with the stores open, which answers visits one beside the other. */
import { parentPort, workerData } from "node:worker_threads";
import { forgetOld } from "#accounts/forget-old.ts";
import { openPasswords } from "#accounts/passwords.ts";
import { removeOldAudit } from "#store/audit.ts";
import { openControl, openUsage } from "#store/stores.ts";
import { answerVisit } from "./answer-visit.ts";
import { openDesk } from "./desk.ts";
import { openOwnModel } from "./own-model.ts";
import { openPost } from "./mail/post.ts";
import type { FromOffice, OfficeSettings, ToOffice } from "./message.ts";
import { openPersonLimiter } from "./person-limits.ts";
import { routes } from "./routes/index.ts";
import type { Rooms } from "./visit.ts";
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
