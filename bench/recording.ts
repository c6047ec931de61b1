/** Records requests with the program of a checkout, in a process of its own, and tells what a request costs. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";

export interface RecordingOrder {
  /** The checkout whose program records. */
  root: string;
  /** An empty folder. */
  dataDir: string;
  /** So many go to the writer at once, as those of a second do. */
  perSecond: number;
  /** Of requests; the mean counts. */
  seconds: number;
  /** Before them, for V8. */
  warmUpSeconds: number;
}

export interface RecordingCost {
  /** Of processor time, over all threads. */
  microseconds: number;
  /** Of them, what the thread takes that answers requests. */
  ownMicroseconds: number;
  /** Of disk, with all tables and indexes. */
  bytes: number;
}

const tidyingMilliseconds = 50;
const callerCount = 200;
const operationNames = ["fetch-gp", "fetch-principals", "fetch-signals", "fetch-projects"];
const idLength = 16;
/** One string each, as a verifier hands out. */
const keyIds = Array.from(
  { length: callerCount },
  (_, caller) => `key_${String(caller).padStart(idLength, "k")}`,
);

async function measure(order: RecordingOrder): Promise<RecordingCost> {
  const { root, dataDir, perSecond, seconds, warmUpSeconds } = order;
  const load = (path: string) => import(pathToFileURL(join(root, "src", path)).href);
  const { openRecorder } = (await load(
    "usage/recording.ts",
  )) as typeof import("#usage/recording.ts");
  const { openWriter } = (await load("usage/writer.ts")) as typeof import("#usage/writer.ts");
  const { makeRequestId } = (await load("http/routes.ts")) as typeof import("#http/routes.ts");
  const open = () =>
    openWriter({
      dataDir,
      onFault(fault) {
        if (fault !== null) throw fault;
      },
      onLoss(requests) {
        throw new Error(`${requests} requests were not recorded.`);
      },
    });
  let now = Date.UTC(2026, 10, 21, 12);
  const second = async (
    recorder: ReturnType<typeof openRecorder>,
    writer: ReturnType<typeof open>,
  ) => {
    const begin = now;
    const requests = Array.from({ length: perSecond }, (_, i) =>
      requestAt(i, begin + Math.floor((1000 * i) / perSecond), makeRequestId),
    );
    const before = process.cpuUsage();
    const thread = process.threadCpuUsage();
    for (const { at, request } of requests) {
      now = at;
      recorder.record(request);
    }
    now = begin + 1000;
    // Sends what was recorded, as the end of the second does.
    recorder.close();
    const own = process.threadCpuUsage(thread);
    await writer.settled();
    // The thread then puts in order what was written, which is part of the cost.
    await setTimeout(tidyingMilliseconds);
    return { all: sum(process.cpuUsage(before)) / perSecond, own: sum(own) / perSecond };
  };
  const first = open();
  await second(
    openRecorder(first.write, () => now),
    first,
  );
  await first.close();
  const path = join(dataDir, "usage.sqlite");
  const sizeBefore = statSync(path).size;
  const writer = open();
  const recorder = openRecorder(writer.write, () => now);
  const costs = [];
  for (let i = 0; i < warmUpSeconds + seconds; i++) costs.push(await second(recorder, writer));
  await writer.close();
  const counted = costs.slice(warmUpSeconds);
  return {
    // Not the median: what is done once in some seconds counts, too.
    microseconds: mean(counted.map(({ all }) => all)),
    ownMicroseconds: mean(counted.map(({ own }) => own)),
    bytes: (statSync(path).size - sizeBefore) / (perSecond * costs.length),
  };
}

const mean = (values: readonly number[]) =>
  values.reduce((all, value) => all + value, 0) / values.length;

const sum = ({ user, system }: NodeJS.CpuUsage) => user + system;

/** As a service answers them: most from its cache, some with more work, some not at all. */
function requestAt(i: number, at: number, makeRequestId: (now: number) => string) {
  const chance = fraction(i);
  const caller = Math.floor(callerCount * fraction(i + 0.25) ** 2);
  const milliseconds = Math.round(100 * (0.1 + 5 * fraction(i + 0.5) ** 4)) / 100;
  const status = chance < 0.93 ? 200 : chance < 0.97 ? 304 : chance < 0.99 ? 400 : 429;
  return {
    at,
    request: {
      account: caller + 1,
      key: keyIds[caller]!,
      operation: operationNames[i % operationNames.length]!,
      status,
      milliseconds,
      bytes: status === 304 ? 0 : Math.floor(200 + 30_000 * fraction(i + 0.75) ** 3),
      dataset: status < 400 ? "20261121T090000Z-1" : null,
      problem: status === 400 ? "invalid-parameters" : status === 429 ? "quota-exceeded" : null,
      // As one that was written into headers: in one piece.
      requestId: Buffer.from(makeRequestId(at - Math.floor(milliseconds))).toString("latin1"),
      query: null,
    },
  };
}

/** From 0 to just under 1, the same for the same number. */
const fraction = (value: number): number => {
  const mixed = Math.sin(value * 12.9898 + 78.233) * 43_758.5453;
  return mixed - Math.floor(mixed);
};

process.on("disconnect", () => process.exit());
process.once("message", async (order: RecordingOrder) => {
  process.send!(await measure(order));
});
