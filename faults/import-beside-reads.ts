/** F12: a large import and its taking over happen beside requests without stopping them. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type CalmSeconds, watchCalmSeconds } from "../bench/calm-seconds.ts";
import { quantile } from "../bench/measure.ts";
import { startProgram } from "../bench/servers.ts";
import { ask, othersThan200, stream, warmUp } from "./ask.ts";
import type { Fault } from "./fault.ts";
import { done, newKey, start } from "./program.ts";
import { writeRecords } from "./records.ts";
import { watchTurns } from "./watch-turns.ts";

const perSecond = 200;
const path = "/fetch-projects?limit=5";
/** Before the import, and after it as many. */
const quietSeconds = 10;
const quietSecondsMax = 60;
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
    const [small, large] = ["small", "large"].map((name) => join(dataDir, `${name}.ndjson`));
    await writeRecords(small!, 5000, 1);
    await writeRecords(large!, records, 2);
    await done(work, dataDir, "import", "ndjson", small!, "--source", "own");
    const key = await newKey(work, dataDir);
    const server = await startProgram({
      root: join(import.meta.dirname, ".."),
      dataDir,
      settings: { LOG_LEVEL: "warn" },
      isWatched: true,
    });
    const { port } = server;
    await warmUp({ port, path, key });
    const before = await quiet({ port, path, key });
    const { headers } = await ask({ port, path, key });
    const beside = stream({ port, path, key }, perSecond);
    const watch = watchCalmSeconds(beside.books.milliseconds);
    const watchedTurns = watchTurns(server);
    work.tell(`importing ${records} records`);
    const importing = await start(work, ["import", "ndjson", large!, "--source", "own"], {
      dataDir,
    }).ended;
    const isTaken = await taken(port, key, String(headers["dataset-version"]));
    const longestTurn = Math.max(0, ...(await watchedTurns.end()));
    const busy = watch.end();
    const books = await beside.end();
    const after = await quiet({ port, path, key });
    const logBytes = Math.max(0, ...writeAheadLogs(dataDir));
    const broken: string[] = [];
    if (importing.exitCode !== 0) broken.push(`the import failed: ${importing.err}`);
    if (!isTaken) broken.push("the server did not take the new dataset over");
    const others = othersThan200(books);
    if (others !== "") broken.push(others);
    const alone = [...before.figures, ...after.figures];
    const [p99Alone, p99Beside] = [alone, busy.figures].map((all) => quantile(all, 0.99));
    if (records >= judgedRecords) {
      if (Math.min(alone.length, busy.figures.length) < judgedAnswers)
        broken.push("the machine was away too often for p99 to be told; try again");
      else if (p99Beside! > 2 * p99Alone!)
        broken.push(
          `p99 ${p99Beside!.toFixed(1)} ms beside the import, ${p99Alone!.toFixed(1)} ms before and after`,
        );
      if (longestTurn > turnMillisecondsMax)
        broken.push(`a turn of the event loop of ${longestTurn.toFixed(1)} ms`);
    }
    if (logBytes > logBytesMax) broken.push(`a write-ahead log of ${logBytes} bytes`);
    await server.stop();
    return {
      done: `${records.toLocaleString("en-US")} records imported and taken over under ${perSecond} requests a second`,
      seen: `${books.statuses.get(200)} × 200; p99 ${p99Alone!.toFixed(1)} ms before and after, ${p99Beside!.toFixed(1)} ms beside it, in the ${busy.calm} of ${busy.calm + busy.away} seconds without others on the machine, with no turn over ${Math.ceil(longestTurn)} ms; slowest ${Math.round(Math.max(...books.milliseconds))} ms; largest log ${Math.round(logBytes / 1024)} KiB`,
      broken,
    };
  },
};

/** Milliseconds of each answer while nothing is imported. */
async function quiet(question: { port: number; path: string; key: string }): Promise<CalmSeconds> {
  const load = stream(question, perSecond);
  const watch = watchCalmSeconds(load.books.milliseconds);
  for (let second = 0; second < quietSecondsMax && watch.calm < quietSeconds; second++)
    await wait(1000);
  await load.end();
  return watch.end();
}

async function taken(port: number, key: string, old: string): Promise<boolean> {
  for (let i = 0; i < 600; i++) {
    const { headers } = await ask({ port, path, key });
    if (headers["dataset-version"] !== old) return true;
    await wait(100);
  }
  return false;
}

const writeAheadLogs = (dataDir: string) =>
  readdirSync(dataDir)
    .filter((name) => name.endsWith("-wal"))
    .map((name) => statSync(join(dataDir, name)).size);
