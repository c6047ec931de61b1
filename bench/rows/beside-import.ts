/** What readers notice of an import on the same machine: 200 requests a second before it and beside it (C58, F12). */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { askInside } from "../ask-inside.ts";
import { stolenTicks } from "../calm-seconds.ts";
import type { Checkout } from "../checkouts.ts";
import { importRecords } from "../data-folders.ts";
import { watchOwnDelay } from "../own-delay.ts";
import type { Effort } from "../effort.ts";
import { fetchOnce } from "../fetch-once.ts";
import type { Ground, Published } from "../ground.ts";
import { allServed, type LoadClient, startLoadClient } from "../load.ts";
import { quantile } from "../measure.ts";
import { requestsOf, sizesOf } from "../requests.ts";
import type { Figure } from "../rows.ts";
import { type RunningServer, startBare, startProgram } from "../servers.ts";

const perSecond = 200;
const connections = 16;
const secondsBefore = 2;
const takeoverSecondsMax = 60;

export async function measureBesideImport(ground: Ground, effort: Effort): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const checkout of ground.checkouts)
    figures.push(...(await besideImport(ground, checkout, effort)));
  return figures;
}

async function besideImport(
  ground: Ground,
  checkout: Checkout,
  { waitRounds }: Effort,
): Promise<Figure[]> {
  const published = await ground.published(checkout, 1);
  const { path } = await ground.otherRecords();
  const dataDir = ownCopy(ground, published);
  const server = await startProgram({ root: checkout.root, dataDir, isWatched: true });
  // No import concerns it, so that what it is late by is the machine's doing.
  const bare = await startBare(await sizesOf(await ground.mix(), server.port, published.keys[0]!));
  const bareLoad = startLoadClient();
  bareLoad.prepare(published.requests, requestsOf(await ground.mix(), published.keys));
  const askFor = (seconds: number) =>
    askOn(ground.load, published, server, (second) => second < seconds);

  // Asked before, so that both times what is asked is remembered, until the new dataset is taken over.
  await askFor(secondsBefore * waitRounds);
  const before = await watched(server, () => askFor(secondsBefore * waitRounds));
  const beside = await watched(server, async () => {
    let isOver = false;
    const imported = importAndServe(checkout, server, published, dataDir, path);
    const [ofServer, ofBare] = await Promise.all([
      askOn(ground.load, published, server, () => !isOver),
      askOn(bareLoad, published, bare, () => !isOver),
      imported.finally(() => (isOver = true)),
    ]);
    return { ofServer, ofBare };
  });
  await Promise.all([server.stop(), bare.stop()]);
  const { name } = checkout;
  const ofIdle = `${beside.idleGap.toFixed(1)} ms in a process with nothing to do`;
  return [
    {
      row: "import-gap",
      checkout: name,
      value: beside.gap,
      note: `${before.gap.toFixed(1)} ms before; ${ofIdle}`,
    },
    {
      row: "import-p99",
      checkout: name,
      value: p99Of(beside.result.ofServer) / p99Of(before.result),
      note: `${textOf(beside.result.ofServer)} against ${textOf(before.result)}; ${textOf(beside.result.ofBare)} at a bare server meanwhile`,
    },
  ];
}

const p99Of = (microseconds: readonly number[]) => quantile(microseconds, 0.99);
const textOf = (microseconds: readonly number[]) =>
  `${(p99Of(microseconds) / 1000).toFixed(1)} ms of ${microseconds.length} requests`;

interface Watched<T> {
  result: T;
  /** Longest turn of the server's event loop, and of our own, which has next to nothing to do; ms. */
  gap: number;
  idleGap: number;
}

async function watched<T>(server: RunningServer, run: () => Promise<T>): Promise<Watched<T>> {
  const own = watchOwnDelay();
  await askInside(server, "beginDelay");
  const result = await run();
  return { result, gap: await askInside<number>(server, "endDelay"), idleGap: own.end() };
}

/** An import adds to the folder, so it must not be the one others share. */
function ownCopy(ground: Ground, { dataDir }: Published): string {
  const copy = ground.emptyFolder();
  for (const name of ["datasets", "control.sqlite"])
    cpSync(join(dataDir, name), join(copy, name), { recursive: true });
  return copy;
}

/**
 * Asks the mix from its beginning, second by second, as long as it is to go on.
 * @returns µs of each request in the seconds in which the machine was not away; of all, where it always was.
 */
async function askOn(
  load: LoadClient,
  { requests }: Published,
  { port }: RunningServer,
  goesOn: (second: number) => boolean,
): Promise<number[]> {
  const all: number[] = [];
  const calm: number[] = [];
  for (let second = 0; goesOn(second); second++) {
    const stolen = stolenTicks();
    const { microseconds } = allServed(
      await load.run({
        port,
        requests,
        connections,
        count: perSecond,
        firstRequest: second * perSecond,
        secondsMax: 2,
        perSecond,
      }),
    );
    all.push(...microseconds);
    if (stolenTicks() === stolen) calm.push(...microseconds);
  }
  return calm.length > 0 ? calm : all;
}

/** Settles when the records of the file are served. */
async function importAndServe(
  { root }: Checkout,
  { port }: RunningServer,
  { keys }: Published,
  dataDir: string,
  path: string,
): Promise<void> {
  const versionServed = async () => {
    const { headers } = await fetchOnce(port, "/fetch-signals?limit=1", { "x-api-key": keys[0]! });
    return headers["dataset-version"];
  };
  const before = await versionServed();
  await importRecords(root, dataDir, path);
  const deadline = performance.now() + takeoverSecondsMax * 1000;
  while ((await versionServed()) === before)
    if (performance.now() > deadline) throw new Error("The new dataset is not served.");
    else await setTimeout(100);
}
