/** Processor profiles of V8 in short: which functions, and which parts of the house, took how much of the time. */
import type { Profiler } from "node:inspector";

/** Time spent in a place itself, without what it calls. */
export interface SelfTime {
  place: string;
  /** Of the time that was not idle. */
  share: number;
}

type Frame = Profiler.ProfileNode["callFrame"];

const notWork = new Set(["(idle)", "(root)"]);

/** The functions that took most of all threads together, the largest first. */
export const functionTimes = (profiles: readonly Profiler.Profile[], count: number): SelfTime[] =>
  timesBy(profiles, placeOf).slice(0, count);

/** The same by room of `src`, by package, and what is Node's and the system's. */
export const partTimes = (profiles: readonly Profiler.Profile[]): SelfTime[] =>
  timesBy(profiles, partOf);

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
