/** What memory the program takes: after many requests, and once a dataset was replaced under load. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ask } from "../ask.ts";
import { type Fixtures, importRecords } from "../fixtures.ts";
import { allServed } from "../load.ts";
import { openSession, type Session } from "../rounds.ts";
import { askInside, residentBytes } from "../servers.ts";
import { median } from "../statistics.ts";
import { connections, costSetups } from "./cost.ts";

const requestsOfLoad = 300_000;
const secondsMax = 120;
/** What was recorded of the last requests is written a second later. */
const writtenMilliseconds = 1500;

/** What docs/running.md recommends on a machine that is short of memory. */
const sparing = { NODE_OPTIONS: "--max-semi-space-size=8", MALLOC_ARENA_MAX: "1" };

/** After 300,000 requests of the mix, with everything on that is on by default, and metrics. */
export const openMemoryLoad = (fixtures: Fixtures): Promise<Session> =>
  openSession(fixtures.checkouts, async (checkout) => {
    const published = await fixtures.published(checkout, 1);
    const atStart: number[] = [];
    return {
      async sample() {
        const dataDir = fixtures.serverFolder(published);
        const server = await fixtures.start(checkout, {
          dataDir,
          settings: { ...costSetups.all.settings, ...sparing },
        });
        const [key] = published.keys;
        await ask({ port: server.port, path: "/fetch-signals?limit=20", key: key! });
        atStart.push(residentBytes(server.pid) / 1e6);
        const { requests } = published;
        const order = { port: server.port, requests, connections, firstRequest: 0, secondsMax };
        const { answered } = allServed(
          await fixtures.load.run({ ...order, count: requestsOfLoad }),
        );
        if (answered < requestsOfLoad)
          throw new Error(
            `Only ${answered} of ${requestsOfLoad} were answered in ${secondsMax} s.`,
          );
        await wait(writtenMilliseconds);
        const megabytes = residentBytes(server.pid) / 1e6;
        await server.stop();
        return { "memory-load": megabytes };
      },
      note: () => `${median(atStart).toFixed(0)} MB right after the first answer`,
      async close() {},
    };
  });

/** After a take-over. */
const settledMilliseconds = 10_000;
const perSecond = 200;
const takeoverSecondsMax = 60;

/** One dataset, and what more is resident ten seconds after a take-over than before it, in datasets; at 200 requests a second. */
export const openMemoryTakeover = (fixtures: Fixtures): Promise<Session> =>
  openSession(fixtures.checkouts, async (checkout) => {
    const published = await fixtures.published(checkout, 1);
    const { keys, requests } = published;
    const files = [await fixtures.otherRecords(), await fixtures.records(1)];
    // An import adds to the folder, so it must not be the one others share.
    const dataDir = fixtures.emptyFolder();
    for (const name of ["datasets", "control.sqlite"])
      cpSync(join(published.dataDir, name), join(dataDir, name), { recursive: true });
    const server = await fixtures.start(checkout, { dataDir, isWatched: true });
    const askForASecond = async (second: number) => {
      const counts = { count: perSecond, firstRequest: second * perSecond, secondsMax: 2 };
      const order = { port: server.port, requests, connections: 16, perSecond, ...counts };
      allServed(await fixtures.load.run(order));
    };
    const question = { port: server.port, path: "/fetch-signals?limit=1", key: keys[0]! };
    const versionServed = async () => (await ask(question)).headers["dataset-version"];
    let imported = 0;
    const importAndSettle = async () => {
      const before = await versionServed();
      await importRecords(checkout, { dataDir }, files[imported++ % 2]!.path);
      const deadline = performance.now() + takeoverSecondsMax * 1000;
      while ((await versionServed()) === before)
        if (performance.now() > deadline) throw new Error("The new dataset is not served.");
        else await wait(100);
      await wait(settledMilliseconds);
    };
    const arrays = await askInside(server, "arrays");
    const takeOver = async () => {
      const before = residentBytes(server.pid);
      let isOver = false;
      const importing = importAndSettle().finally(() => (isOver = true));
      for (let second = 0; !isOver; second++) await askForASecond(second);
      await importing;
      return { before, after: residentBytes(server.pid) };
    };
    // Answers are remembered then, and the C library has grown by what a thread that loads a dataset leaves in it.
    await takeOver();
    const sizes: { before: number; after: number }[] = [];
    const middle = (figure: "before" | "after") =>
      (median(sizes.map((size) => size[figure])) / 1e6).toFixed(0);
    return {
      async sample() {
        const size = await takeOver();
        sizes.push(size);
        return { "memory-takeover": 1 + (size.after - size.before) / arrays };
      },
      note: () =>
        `${middle("after")} MB against ${middle("before")}; a dataset takes ${(arrays / 1e6).toFixed(0)}`,
      close: () => server.stop(),
    };
  });
