/** F9: where nothing more can be written, reads go on, nothing old is harmed, and no restart is needed. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { openCatalogue } from "#datasets/catalogue.ts";
import { ask, othersThan200, stream } from "./ask.ts";
import type { Fault } from "./fault.ts";
import { done, newKey, serve, start, stop } from "./program.ts";
import { writeRecords } from "./records.ts";
import type { Work } from "./work.ts";

const perSecond = 200;
const daily = 1_000_000;
const path = "/fetch-projects?limit=5";
/** Less than any dataset of the attempt, more than a line of a report. */
const importBytesMax = 200_000;

/** Tries are seconds under load without room. */
export const fullDisk: Fault = {
  name: "F9 · no room to write",
  promise:
    "reads are answered, the old dataset stays, nothing is left behind, recovery needs no restart",
  tries: { quick: 3, full: 20 },
  async attempt(work, seconds) {
    const dataDir = work.folder();
    const files = [1, 2].map((seed) => join(dataDir, `records-${seed}.ndjson`));
    for (const [i, file] of files.entries()) await writeRecords(file, 5000, i + 1);
    await done(work, dataDir, "import", "ndjson", files[0]!, "--source", "own");
    const importing = await importWithoutRoom(work, dataDir, files[1]!);
    const serving = await serveWithoutRoom(work, dataDir, seconds);
    return {
      done: `an import that may write ${importBytesMax.toLocaleString("en-US")} bytes a file; a server that may write none for ${seconds} s under ${perSecond} requests a second`,
      seen: `${importing.seen}; ${serving.seen}`,
      broken: [...importing.broken, ...serving.broken],
    };
  },
};

async function importWithoutRoom(work: Work, dataDir: string, file: string) {
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const before = {
    version: catalogue.currentVersion(),
    files: readdirSync(catalogue.folder).join(),
  };
  const under = ["prlimit", `--fsize=${importBytesMax}`];
  const args = ["import", "ndjson", file, "--source", "own"];
  const { exitCode, signal, err } = await start(work, args, { dataDir, under }).ended;
  const broken: string[] = [];
  if (exitCode === 0 || signal !== null) broken.push(`the import ended with ${signal ?? exitCode}`);
  if (!err.includes(catalogue.folder)) broken.push(`the import's error names no folder: ${err}`);
  if (catalogue.currentVersion() !== before.version) broken.push("another dataset is current");
  if (readdirSync(catalogue.folder).join() !== before.files) broken.push("the import left files");
  await done(work, dataDir, ...args);
  return {
    seen: `import ended with exit code ${exitCode}, and was done once there was room`,
    broken,
  };
}

async function serveWithoutRoom(work: Work, dataDir: string, seconds: number) {
  const key = await newKey(work, dataDir, { day: daily });
  const server = await serve(work, { dataDir });
  const load = stream({ port: server.port, path, key }, perSecond);
  const room = (bytes: string) =>
    execFileSync("prlimit", ["--pid", String(server.pid), `--fsize=${bytes}`]);
  await wait(500);
  room("0:unlimited");
  await wait(seconds * 1000);
  room("unlimited:unlimited");
  await wait(2000);
  const books = await load.end();
  const broken: string[] = [];
  const others = othersThan200(books);
  if (others !== "") broken.push(`without room: ${others}`);
  if (server.errors().length === 0) broken.push("the log does not say that nothing can be written");
  // Killed, so that only what was written before is there again: recovery has to have happened by itself.
  server.child.kill("SIGKILL");
  await server.ended;
  const again = await serve(work, { dataDir });
  const { headers } = await ask({ port: again.port, path, key });
  const [, remaining] = /"day";r=(\d+)/.exec(String(headers["ratelimit"])) ?? [];
  const lost = books.sent + 1 - (daily - Number(remaining));
  if (lost > 0) broken.push(`${lost} counts were not written once there was room again`);
  await stop(again);
  return {
    seen: `${books.statuses.get(200)} × 200 without room, ${Math.max(0, lost)} counts not written after it`,
    broken,
  };
}
