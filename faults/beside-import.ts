/** What requests meet while records are imported and take the place of as many others. */
import { setTimeout as wait } from "node:timers/promises";
import { type UndisturbedSeconds, watchSteal } from "../bench/machine.ts";
import type { RunningServer } from "../bench/servers.ts";
import { ask, type Books, type Question, stream } from "./ask.ts";
import { done } from "./program.ts";
import { type WatchedSecond, watchTurns } from "./watch-turns.ts";
import type { Work } from "./work.ts";

export interface BesideImport {
  /** Times that a dataset took the place of another, and whether the machine was there all through one of them. */
  takeovers: number;
  isTakeoverCalm: boolean;
  /** Of all requests, and milliseconds of those beside the import alone. */
  books: Books;
  beside: UndisturbedSeconds;
  seconds: readonly WatchedSecond[];
}

export interface ImportOrder {
  server: RunningServer;
  question: Question;
  dataDir: string;
  file: string;
  perSecond: number;
  /** So often at most is one dataset put in place of the other, until the machine was there meanwhile. */
  takeoversMax: number;
}

const secondMilliseconds = 1000;
/** The old dataset is collected after the new one is seen. */
const settlingMilliseconds = 2 * secondMilliseconds;
const takeoverMillisecondsMax = 60 * secondMilliseconds;

/** @throws Error where the import fails, or is not taken over. */
export async function importBeside(work: Work, order: ImportOrder): Promise<BesideImport> {
  const { server, question, dataDir, file, perSecond, takeoversMax } = order;
  let served = await versionServed(question);
  const load = stream(question, perSecond);
  const watch = watchSteal(load.books.milliseconds);
  const turns = watchTurns(server);
  /** @returns was the machine there meanwhile? */
  const seeTakeover = async (): Promise<boolean> => {
    const takenAt = await takenOver(question, served);
    await wait(settlingMilliseconds + secondMilliseconds);
    return turns.seconds
      .filter(({ endedAt }) => endedAt > takenAt - secondMilliseconds)
      .filter(({ begunAt }) => begunAt < takenAt + settlingMilliseconds)
      .every(({ isCalm }) => isCalm);
  };

  await done(work, dataDir, "import", "ndjson", file, "--source", "own");
  let isTakeoverCalm = await seeTakeover();
  const beside = watch.end();
  let takeovers = 1;
  for (; !isTakeoverCalm && takeovers < takeoversMax; takeovers++) {
    work.tell(`the machine was away in ${takeovers} take-overs; another one`);
    const former = served;
    served = await versionServed(question);
    await done(work, dataDir, "datasets", "publish", former);
    isTakeoverCalm = await seeTakeover();
  }
  await turns.end();
  const books = await load.end();
  return { takeovers, isTakeoverCalm, books, beside, seconds: turns.seconds };
}

async function versionServed(question: Question): Promise<string> {
  const { headers } = await ask(question);
  return String(headers["dataset-version"]);
}

/**
 * @returns when it was seen that another version is served, by `performance.now()`.
 * @throws Error where none is.
 */
async function takenOver(question: Question, version: string): Promise<number> {
  const deadline = performance.now() + takeoverMillisecondsMax;
  while ((await versionServed(question)) === version) {
    if (performance.now() > deadline)
      throw new Error("The server did not take the new dataset over.");
    await wait(100);
  }
  return performance.now();
}
