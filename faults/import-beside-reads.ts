/** F12: a large import and its taking over happen beside requests without stopping them. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type UndisturbedSeconds, watchSteal } from "../bench/machine.ts";
import { quantile } from "../bench/statistics.ts";
import { startProgram } from "../bench/servers.ts";
import { othersThan200, type Question, stream, warmUp } from "./ask.ts";
import { type BesideImport, importBeside } from "./beside-import.ts";
import type { Fault } from "./fault.ts";
import { done, newKey } from "./program.ts";
import { writeRecords } from "./records.ts";

const perSecond = 200;
const path = "/fetch-projects?limit=5";
/** Before the import, and after it as many. */
const quietSeconds = 10;
const quietSecondsMax = 60;
const takeoversMax = 12;
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
    const dataDir = work.folder();
    const [served, file] = ["served", "next"].map((name) => join(dataDir, `${name}.ndjson`));
    await writeRecords(served!, records, 1);
    await writeRecords(file!, records, 2);
    work.tell(`importing ${records} records`);
    await done(work, dataDir, "import", "ndjson", served!, "--source", "own");
    const key = await newKey(work, dataDir);
    const server = await startProgram({
      root: join(import.meta.dirname, ".."),
      dataDir,
      settings: { LOG_LEVEL: "warn" },
      isWatched: true,
    });
    const question = { port: server.port, path, key };
    await warmUp(question);
    const before = await quiet(question);
    work.tell(`importing ${records} other records in their place`);
    const seen = await importBeside(work, {
      server,
      question,
      dataDir,
      file: file!,
      perSecond,
      takeoversMax: records < judgedRecords ? 1 : takeoversMax,
    });
    const after = await quiet(question);
    const logBytes = Math.max(0, ...writeAheadLogs(dataDir));
    await server.stop();
    const figures = figuresOf(seen, [...before.figures, ...after.figures]);
    const broken = brokenAtAnySize(seen, logBytes);
    if (records >= judgedRecords) broken.push(...tooSlow(seen, figures));
    const count = records.toLocaleString("en-US");
    return {
      done: `${count} records imported and taken over in place of as many others under ${perSecond} requests a second`,
      seen: `${textOf(seen, figures)}; largest log ${Math.round(logBytes / 1024)} KiB`,
      broken,
    };
  },
};

/** Milliseconds of each answer while nothing is imported. */
async function quiet(question: Question): Promise<UndisturbedSeconds> {
  const load = stream(question, perSecond);
  const watch = watchSteal(load.books.milliseconds);
  for (let second = 0; second < quietSecondsMax && watch.undisturbed < quietSeconds; second++)
    await wait(1000);
  await load.end();
  return watch.end();
}

/** Of seconds in which the machine was there; milliseconds, NaN where there were none. */
interface Figures {
  /** Answers of the side that has fewer. */
  answers: number;
  p99Alone: number;
  p99Beside: number;
  longestTurn: number;
}

function figuresOf({ beside, seconds }: BesideImport, alone: readonly number[]): Figures {
  const turns = seconds.filter(({ isCalm }) => isCalm).map(({ longestTurn }) => longestTurn);
  return {
    answers: Math.min(alone.length, beside.figures.length),
    p99Alone: quantile(alone, 0.99),
    p99Beside: quantile(beside.figures, 0.99),
    longestTurn: quantile(turns, 1),
  };
}

function brokenAtAnySize({ books }: BesideImport, logBytes: number): string[] {
  const broken: string[] = [];
  const others = othersThan200(books);
  if (others !== "") broken.push(others);
  if (logBytes > logBytesMax) broken.push(`a write-ahead log of ${logBytes} bytes`);
  return broken;
}

function tooSlow({ isTakeoverCalm, takeovers }: BesideImport, figures: Figures): string[] {
  const { answers, p99Alone, p99Beside, longestTurn } = figures;
  const broken: string[] = [];
  if (answers < judgedAnswers)
    broken.push("the machine was away too often for p99 to be told; try again");
  else if (p99Beside > 2 * p99Alone)
    broken.push(`p99 ${told(p99Beside)} beside the import, ${told(p99Alone)} before and after`);
  if (!isTakeoverCalm)
    broken.push(`the machine was away in each of ${takeovers} take-overs; try again`);
  else if (!(longestTurn <= turnMillisecondsMax))
    broken.push(`a turn of the event loop of ${told(longestTurn)}`);
  return broken;
}

function textOf({ books, beside, takeovers }: BesideImport, figures: Figures): string {
  const { p99Alone, p99Beside, longestTurn } = figures;
  return [
    `${books.statuses.get(200)} × 200`,
    `p99 ${told(p99Alone)} before and after, ${told(p99Beside)} beside the import, in the ${beside.undisturbed} of ${beside.undisturbed + beside.disturbed} seconds without others on the machine`,
    `longest turn ${told(longestTurn)}, ${takeovers === 1 ? "1 take-over" : `${takeovers} take-overs`} included`,
    `slowest answer ${told(Math.max(...books.milliseconds))}`,
  ].join("; ");
}

const told = (milliseconds: number) =>
  Number.isNaN(milliseconds) ? "not told" : `${milliseconds.toFixed(1)} ms`;

const writeAheadLogs = (dataDir: string) =>
  readdirSync(dataDir)
    .filter((name) => name.endsWith("-wal"))
    .map((name) => statSync(join(dataDir, name)).size);
