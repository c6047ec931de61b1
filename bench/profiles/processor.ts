/** Where the time of one row goes: the processor profile of its process, by function. */
import { readdirSync, readFileSync } from "node:fs";
import type { Profiler } from "node:inspector";
import { join } from "node:path";
import { askInside } from "../ask-inside.ts";
import { importRecords } from "../data-folders.ts";
import type { Effort } from "../effort.ts";
import type { Ground } from "../ground.ts";
import { allServed } from "../load.ts";
import { connections, costSetups, type CostRow } from "../rows/cost.ts";
import { startProgram } from "../servers.ts";
import { asText } from "../table.ts";
import { functionTimes, partTimes, type SelfTime } from "./self-times.ts";

/** Visits that are sampled after the warm-up. */
const visitCount = 5;

export type ProcessorRow = CostRow | "start" | "import";

export async function profileProcessor(
  ground: Ground,
  row: ProcessorRow,
  effort: Effort,
): Promise<string> {
  const profiles = await profilesOf(ground, row, effort);
  return [
    `Processor time of '${row}', itself without what it calls; idle time left out.`,
    linesOf(functionTimes(profiles, functionCount)),
    linesOf(partTimes(profiles)),
  ].join("\n\n");
}

const functionCount = 30;

const linesOf = (times: readonly SelfTime[]) =>
  asText(times.map(({ place, share }) => [`${(share * 100).toFixed(1)} %`.padStart(6), place]));

/** One of each thread. */
async function profilesOf(
  ground: Ground,
  row: ProcessorRow,
  effort: Effort,
): Promise<Profiler.Profile[]> {
  if (row === "import") return profileImport(ground);
  if (row === "start") return profileStart(ground);
  return [await profileServer(ground, row, effort)];
}

async function profileServer(
  ground: Ground,
  row: CostRow,
  effort: Effort,
): Promise<Profiler.Profile> {
  const { factor, settings } = costSetups[row];
  const [{ root } = { root: "" }] = ground.checkouts;
  const published = await ground.published(ground.checkouts[0]!, factor);
  const dataDir = ground.serverFolder(published);
  const server = await startProgram({ root, dataDir, settings, isWatched: true });
  const ask = async (count: number) =>
    allServed(
      await ground.load.run({
        port: server.port,
        requests: published.requests,
        connections,
        count,
        firstRequest: 0,
        secondsMax: 60,
      }),
    );
  await ask(effort.warmUp);
  await askInside(server, "beginProfile");
  await ask(effort.perVisit * visitCount);
  const profile = await askInside<Profiler.Profile>(server, "endProfile");
  await server.stop();
  return profile;
}

async function profileImport(ground: Ground): Promise<Profiler.Profile[]> {
  const { path } = await ground.records(1);
  const folder = ground.emptyFolder();
  const nodeArgs = profiling(folder);
  await importRecords(ground.checkouts[0]!.root, ground.emptyFolder(), path, nodeArgs);
  return profilesIn(folder);
}

/** From the start of the process to its end, which comes right after the first answer can be given. */
async function profileStart(ground: Ground): Promise<Profiler.Profile[]> {
  const published = await ground.published(ground.checkouts[0]!, 1);
  const folder = ground.emptyFolder();
  const server = await startProgram({
    root: ground.checkouts[0]!.root,
    dataDir: ground.serverFolder(published),
    nodeArgs: profiling(folder),
  });
  await server.stop();
  return profilesIn(folder);
}

const profiling = (folder: string) => ["--cpu-prof", `--cpu-prof-dir=${folder}`];

/** Node writes one for each thread. */
const profilesIn = (folder: string) =>
  readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Profiler.Profile,
  );
