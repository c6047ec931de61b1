/** F12: a large import and its taking over happen beside requests without stopping them. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { quantile } from "../bench/measure.ts";
import { ask, othersThan200, stream, warmUp } from "./ask.ts";
import type { Fault } from "./fault.ts";
import { done, newKey, serve, start, stop } from "./program.ts";
import { writeRecords } from "./records.ts";

const perSecond = 200;
const path = "/fetch-projects?limit=5";
const quietMilliseconds = 10_000;
const logBytesMax = 64 * 2 ** 20;

/** Of a shorter import a hundredth is a single pause of the machine. */
const judgedRecords = 1_000_000;

/** Tries are records. */
export const importBesideReads: Fault = {
  name: "F12 · import beside reads",
  promise: "no request fails; p99 at most doubles; write-ahead logs stay within 64 MiB",
  tries: { quick: 65_000, full: 1_000_000 },
  async attempt(work, records) {
    const dataDir = work.folder();
    const [small, large] = ["small", "large"].map((name) => join(dataDir, `${name}.ndjson`));
    await writeRecords(small!, 5000, 1);
    await writeRecords(large!, records, 2);
    await done(work, dataDir, "import", "ndjson", small!, "--source", "own");
    const key = await newKey(work, dataDir);
    const server = await serve(work, { dataDir });
    const { port } = server;
    await warmUp({ port, path, key });
    const before = await quiet({ port, path, key });
    const { headers } = await ask({ port, path, key });
    const beside = stream({ port, path, key }, perSecond);
    work.tell(`importing ${records} records`);
    const importing = await start(work, ["import", "ndjson", large!, "--source", "own"], {
      dataDir,
    }).ended;
    const isTaken = await taken(port, key, String(headers["dataset-version"]));
    const books = await beside.end();
    const after = await quiet({ port, path, key });
    const logBytes = Math.max(0, ...writeAheadLogs(dataDir));
    const broken: string[] = [];
    if (importing.exitCode !== 0) broken.push(`the import failed: ${importing.err}`);
    if (!isTaken) broken.push("the server did not take the new dataset over");
    const others = othersThan200(books);
    if (others !== "") broken.push(others);
    // Together, for on a shared machine it may be quiet before and busy after, or the other way round.
    const [calm, busy] = [[...before, ...after], books.milliseconds].map((all) =>
      quantile(all, 0.99),
    );
    if (records >= judgedRecords && busy! > 2 * calm!)
      broken.push(
        `p99 ${busy!.toFixed(1)} ms beside the import, ${calm!.toFixed(1)} ms before and after`,
      );
    if (logBytes > logBytesMax) broken.push(`a write-ahead log of ${logBytes} bytes`);
    await stop(server);
    return {
      done: `${records.toLocaleString("en-US")} records imported and taken over under ${perSecond} requests a second`,
      seen: `${books.statuses.get(200)} × 200; p99 ${calm!.toFixed(1)} ms before and after, ${busy!.toFixed(1)} ms beside it; slowest ${Math.round(Math.max(...books.milliseconds))} ms; largest log ${Math.round(logBytes / 1024)} KiB`,
      broken,
    };
  },
};

/** Milliseconds of each answer while nothing is imported. */
async function quiet(question: { port: number; path: string; key: string }): Promise<number[]> {
  const load = stream(question, perSecond);
  await wait(quietMilliseconds);
  return (await load.end()).milliseconds;
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
