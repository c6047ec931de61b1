/** F9: where nothing more can be written, reads go on, nothing old is harmed, and no restart is needed. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { openCatalogue } from "#datasets/catalogue.ts";
import { done, startProgram } from "../bench/program.ts";
import { writeRecords } from "../bench/records.ts";
import { newKey } from "../test/support/own-process.ts";
import { othersThan200, stream } from "../bench/ask.ts";
import type { Fault } from "./fault.ts";
import { countsLost, errorsOf, importOf, publishedFolder, roomy, serveQuietly } from "./work.ts";

const perSecond = 200;
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
    const dataDir = await publishedFolder(work, 5000);
    const { path: next } = await writeRecords(join(dataDir, "next.ndjson"), 5000, 2);
    const importing = await importWithoutRoom(dataDir, next);
    const serving = await serveWithoutRoom(dataDir, seconds);
    return {
      done: `an import that may write ${importBytesMax.toLocaleString("en-US")} bytes a file; a server that may write none for ${seconds} s under ${perSecond} requests a second`,
      seen: `${importing.seen}; ${serving.seen}`,
      broken: [...importing.broken, ...serving.broken],
    };
  },
};

async function importWithoutRoom(dataDir: string, file: string) {
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const before = {
    version: catalogue.currentVersion(),
    files: readdirSync(catalogue.folder).join(),
  };
  const under = ["prlimit", `--fsize=${importBytesMax}`];
  const args = importOf(file);
  const { exitCode, signal, err } = await startProgram(args, { dataDir, under }).ended;
  const broken: string[] = [];
  if (exitCode === 0 || signal !== null) broken.push(`the import ended with ${signal ?? exitCode}`);
  if (!err.includes(catalogue.folder)) broken.push(`the import's error names no folder: ${err}`);
  if (catalogue.currentVersion() !== before.version) broken.push("another dataset is current");
  if (readdirSync(catalogue.folder).join() !== before.files) broken.push("the import left files");
  await done(dataDir, ...args);
  return {
    seen: `import ended with exit code ${exitCode}, and was done once there was room`,
    broken,
  };
}

async function serveWithoutRoom(dataDir: string, seconds: number) {
  const key = await newKey(dataDir, "client", roomy);
  const server = await serveQuietly({ dataDir });
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
  if (errorsOf(server).length === 0)
    broken.push("the log does not say that nothing can be written");
  // Killed, so that only what was written before is there again: recovery has to have happened by itself.
  server.child.kill("SIGKILL");
  await server.ended;
  const again = await serveQuietly({ dataDir });
  const lost = await countsLost(again, key, books.sent);
  if (lost > 0) broken.push(`${lost} counts were not written once there was room again`);
  await again.stop();
  return {
    seen: `${books.statuses.get(200)} × 200 without room, ${lost} counts not written after it`,
    broken,
  };
}
