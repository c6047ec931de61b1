/** Where the time of one row goes: the processor profile of its process, by function. */
import { readdirSync, readFileSync } from "node:fs";
import type { Profiler } from "node:inspector";
import { join } from "node:path";
import { type Fixtures, importRecords } from "../fixtures.ts";
import { allServed } from "../load.ts";
import type { Effort } from "../options.ts";
import { asText } from "../report.ts";
import { connections, type CostRow, openProgram } from "../rows/cost.ts";
import { askInside } from "../servers.ts";

/** Rounds that are sampled after the warm-up. */
const roundCount = 5;

export type ProcessorRow = CostRow | "start" | "import";

export async function profileProcessor(
  fixtures: Fixtures,
  row: ProcessorRow,
  effort: Effort,
): Promise<string> {
  const profiles = await profilesOf(fixtures, row, effort);
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
  fixtures: Fixtures,
  row: ProcessorRow,
  effort: Effort,
): Promise<Profiler.Profile[]> {
  if (row === "import") return profileImport(fixtures);
  if (row === "start") return profileStart(fixtures);
  return [await profileServer(fixtures, row, effort)];
}

async function profileServer(
  fixtures: Fixtures,
  row: CostRow,
  effort: Effort,
): Promise<Profiler.Profile> {
  const program = await openProgram(row, fixtures, fixtures.checkouts[0]!);
  const server = await program.start({ isWatched: true });
  const ask = async (count: number) =>
    allServed(
      await fixtures.load.run({
        port: server.port,
        requests: program.requests,
        connections,
        count,
        firstRequest: 0,
        secondsMax: 60,
      }),
    );
  await ask(effort.warmUp);
  await askInside(server, "beginProfile");
  await ask(effort.perRound * roundCount);
  const profile = await askInside<Profiler.Profile>(server, "endProfile");
  await server.stop();
  return profile;
}

async function profileImport(fixtures: Fixtures): Promise<Profiler.Profile[]> {
  const { path } = await fixtures.records(1);
  const folder = fixtures.emptyFolder();
  const nodeArgs = profiling(folder);
  await importRecords(fixtures.checkouts[0]!, fixtures.emptyFolder(), path, { nodeArgs });
  return profilesIn(folder);
}

/** From the start of the process to its end, which comes right after the first answer can be given. */
async function profileStart(fixtures: Fixtures): Promise<Profiler.Profile[]> {
  const published = await fixtures.published(fixtures.checkouts[0]!, 1);
  const folder = fixtures.emptyFolder();
  const server = await fixtures.start(fixtures.checkouts[0]!, {
    dataDir: fixtures.serverFolder(published),
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

/** Time spent in a place itself, without what it calls. */
interface SelfTime {
  place: string;
  /** Of the time that was not idle. */
  share: number;
}

type Frame = Profiler.ProfileNode["callFrame"];

const notWork = new Set(["(idle)", "(root)"]);

/** The functions that took most of all threads together, the largest first. */
const functionTimes = (profiles: readonly Profiler.Profile[], count: number): SelfTime[] =>
  timesBy(profiles, placeOf).slice(0, count);

/** The same by module of `src`, by package, and what is Node's and the system's. */
const partTimes = (profiles: readonly Profiler.Profile[]): SelfTime[] => timesBy(profiles, partOf);

function timesBy(
  profiles: readonly Profiler.Profile[],
  nameOf: (frame: Frame) => string,
): SelfTime[] {
  const hits = new Map<string, number>();
  let all = 0;
  for (const { nodes, samples = [] } of profiles) {
    const frameOf = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
    for (const id of samples) {
      const frame = frameOf.get(id)!;
      if (notWork.has(frame.functionName)) continue;
      const name = nameOf(frame);
      hits.set(name, (hits.get(name) ?? 0) + 1);
      all++;
    }
  }
  return Array.from(hits, ([place, hit]) => ({ place, share: hit / all })).toSorted(
    (a, b) => b.share - a.share,
  );
}

/** Inside the checkout, whatever it is called. */
const pathOf = (url: string) => url.replace(/^file:\/\/.*?\/(src|node_modules)\//, "$1/");

function placeOf({ functionName, url, lineNumber }: Frame): string {
  const name = functionName || "(anonymous)";
  return url === "" ? name : `${name} ${pathOf(url)}:${lineNumber + 1}`;
}

function partOf({ functionName, url }: Frame): string {
  if (url.startsWith("node:")) return "Node's own JavaScript";
  const [top = "", part = ""] = pathOf(url).split("/");
  if (top === "src" || top === "node_modules") return `${top}/${part}`;
  return functionName === "writev" ? "writev: bytes to the socket" : "V8, C++ and the system";
}
