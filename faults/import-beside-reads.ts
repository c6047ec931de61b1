/** F12: a large import and its taking over happen beside requests without stopping them. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { stealTicks } from "../bench/machine.ts";
import { done, type Server } from "../bench/program.ts";
import { writeRecords } from "../bench/records.ts";
import { askInside } from "../bench/servers.ts";
import { quantile } from "../bench/statistics.ts";
import { newKey } from "../test/support/own-process.ts";
import { ask, othersThan200, stream, warmUp } from "../bench/ask.ts";
import type { Fault } from "./fault.ts";
import { importOf, publishedFolder, roomy, serveQuietly } from "./work.ts";

const perSecond = 200;
const path = "/fetch-projects?limit=5";
/** Before the import, and after it as many. */
const quietSeconds = 10;
const quietSecondsMax = 60;
/** So often at most is one dataset put in place of the other, until the machine was there meanwhile. */
const takeoversMax = 12;
const takeoverMillisecondsMax = 60_000;
/** The old dataset is collected after the new one is seen. */
const settlingMilliseconds = 2000;
/** Of fewer answers a hundredth is a matter of luck. */
const judgedAnswers = 2000;
const turnMillisecondsMax = 50;
const logBytesMax = 64 * 2 ** 20;
/** Of a shorter import a hundredth is a single pause of the machine. */
const judgedRecords = 1_000_000;

/** Tries are records. */
export const importBesideReads: Fault = {
  name: "F12 · import beside reads",
  promise:
    "no request fails; p99 at most doubles; no turn of the event loop over 50 ms; write-ahead logs stay within 64 MiB",
  tries: { quick: 65_000, full: 1_000_000 },
  async attempt(work, records) {
    work.tell(`importing ${records} records`);
    const dataDir = await publishedFolder(work, records);
    const next = await writeRecords(join(dataDir, "next.ndjson"), records, 2);
    const key = await newKey(dataDir, "client", roomy);
    const server = await serveQuietly({ dataDir, isWatched: true });
    const question = { port: server.port, path, key };
    await warmUp(question);
    const load = stream(question, perSecond);
    const watch = watchSeconds(server, load.books.milliseconds);
    /** Waits for seconds in which nothing is imported and the machine is there. */
    const quiet = async () => {
      const begun = performance.now();
      for (let second = 0; second < quietSecondsMax; second++) {
        if (calm(watch.since(begun)).length >= quietSeconds) break;
        await wait(1000);
      }
      return calm(watch.since(begun));
    };
    const versionServed = async () => String((await ask(question)).headers["dataset-version"]);
    let served = await versionServed();
    /** Waits until another version is served, and says whether the machine was there meanwhile. */
    const isTakenOverInCalm = async (): Promise<boolean> => {
      const deadline = performance.now() + takeoverMillisecondsMax;
      while ((await versionServed()) === served) {
        if (performance.now() > deadline)
          throw new Error("The server did not take the new dataset over.");
        await wait(100);
      }
      const takenAt = performance.now();
      await wait(settlingMilliseconds + 1000);
      return watch
        .since(takenAt - 2000)
        .filter(({ begunAt }) => begunAt < takenAt + settlingMilliseconds)
        .every(({ isCalm }) => isCalm);
    };

    const before = await quiet();
    const begun = performance.now();
    work.tell(`importing ${records} other records in their place`);
    await done(dataDir, ...importOf(next.path));
    let isCalm = await isTakenOverInCalm();
    const beside = watch.since(begun);
    let takeovers = 1;
    for (; records >= judgedRecords && !isCalm && takeovers < takeoversMax; takeovers++) {
      work.tell(`the machine was away in ${takeovers} take-overs; another one`);
      const former = served;
      served = await versionServed();
      await done(dataDir, "datasets", "publish", former);
      isCalm = await isTakenOverInCalm();
    }
    const longestTurn = quantile(
      calm(watch.since(begun)).map((second) => second.longestTurn),
      1,
    );
    const after = await quiet();
    await watch.end();
    const books = await load.end();
    const logBytes = Math.max(0, ...writeAheadLogs(dataDir));
    await server.stop();

    const alone = [...before, ...after].flatMap(({ milliseconds }) => milliseconds);
    const disturbed = calm(beside).flatMap(({ milliseconds }) => milliseconds);
    const [p99Alone, p99Beside] = [quantile(alone, 0.99), quantile(disturbed, 0.99)];
    const broken: string[] = [];
    const others = othersThan200(books);
    if (others !== "") broken.push(others);
    if (logBytes > logBytesMax) broken.push(`a write-ahead log of ${logBytes} bytes`);
    if (records >= judgedRecords) {
      if (Math.min(alone.length, disturbed.length) < judgedAnswers)
        broken.push("the machine was away too often for p99 to be told; try again");
      else if (p99Beside > 2 * p99Alone)
        broken.push(`p99 ${told(p99Beside)} beside the import, ${told(p99Alone)} before and after`);
      if (!isCalm)
        broken.push(`the machine was away in each of ${takeovers} take-overs; try again`);
      else if (!(longestTurn <= turnMillisecondsMax))
        broken.push(`a turn of the event loop of ${told(longestTurn)}`);
    }
    const count = records.toLocaleString("en-US");
    const seen = [
      `${books.statuses.get(200)} × 200`,
      `p99 ${told(p99Alone)} before and after, ${told(p99Beside)} beside the import, in the ${calm(beside).length} of ${beside.length} seconds without others on the machine`,
      `longest turn ${told(longestTurn)}, ${takeovers === 1 ? "1 take-over" : `${takeovers} take-overs`} included`,
      `slowest answer ${told(Math.max(...books.milliseconds))}`,
      `largest log ${Math.round(logBytes / 1024)} KiB`,
    ];
    return {
      done: `${count} records imported and taken over in place of as many others under ${perSecond} requests a second`,
      seen: seen.join("; "),
      broken,
    };
  },
};

/** About a second of the server and of its clients. */
interface WatchedSecond {
  /** By `performance.now()`. */
  begunAt: number;
  /** Of the server's event loop. */
  longestTurn: number;
  /** Of the answers. */
  milliseconds: number[];
  /** Was the machine there all the time? */
  isCalm: boolean;
}

const calm = (seconds: readonly WatchedSecond[]) => seconds.filter(({ isCalm }) => isCalm);

/** @param answers milliseconds of each, added to meanwhile. */
function watchSeconds(server: Server, answers: readonly number[]) {
  const seconds: WatchedSecond[] = [];
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const [begunAt, ticks, first] = [performance.now(), stealTicks(), answers.length];
      await askInside(server, "beginDelay");
      await wait(1000);
      const longestTurn = await askInside(server, "endDelay");
      const milliseconds = answers.slice(first);
      seconds.push({ begunAt, longestTurn, milliseconds, isCalm: stealTicks() === ticks });
    }
  })();
  return {
    /** Those that have begun since then, and ended. */
    since: (moment: number) => seconds.filter(({ begunAt }) => begunAt >= moment),
    /** Waits for the last one. */
    async end() {
      isOver = true;
      await watching;
    },
  };
}

const told = (milliseconds: number) =>
  Number.isNaN(milliseconds) ? "not told" : `${milliseconds.toFixed(1)} ms`;

const writeAheadLogs = (dataDir: string) =>
  readdirSync(dataDir)
    .filter((name) => name.endsWith("-wal"))
    .map((name) => statSync(join(dataDir, name)).size);
