/** Where the slowest requests beside an import spent their time: without a core, behind collections of garbage, or else. */
import { askInside } from "../ask-inside.ts";
import { laySceneOfImport } from "../scene-of-import.ts";
import type { Effort } from "../effort.ts";
import type { Ground } from "../ground.ts";
import { quantile } from "../measure.ts";
import type { Asked } from "../paced-load.ts";
import { hasProc } from "../process-cost.ts";
import { asText } from "../table.ts";

/** V8 collected garbage in the thread; milliseconds of the machine's clock. */
export interface Collection {
  begunAt: number;
  milliseconds: number;
}

/** Of the slowest hundredth of some requests, the mean of each; milliseconds. */
interface Slowest {
  count: number;
  p99: number;
  took: number;
  serverWaited: number;
  clientWaited: number;
  collected: number;
}

/** @throws Error where there is no /proc. */
export async function profileBesideImport(ground: Ground, effort: Effort): Promise<string> {
  if (!hasProc) throw new Error("--profile import-p99 needs /proc, which only Linux has.");
  const scene = await laySceneOfImport(ground, ground.checkouts[0]!, effort);
  await scene.askAlone();
  await askInside(scene.server, "beginCollections");
  const before = await scene.askAlone(true);
  const { ofProgram, ofBare } = await scene.askBesideImports(effort.repeats, true);
  const collections = await askInside<Collection[]>(scene.server, "endCollections");
  await scene.end();
  return reportOf([
    ["before", slowestOf(before, collections)],
    [`beside ${effort.repeats} imports`, slowestOf(ofProgram, collections)],
    ["bare node:http meanwhile", slowestOf(ofBare, [])],
  ]);
}

function slowestOf({ microseconds, waits }: Asked, collections: readonly Collection[]): Slowest {
  const p99 = quantile(microseconds, 0.99);
  const slow = [...microseconds.keys()].filter((at) => microseconds[at]! >= p99);
  const mean = (figureOf: (at: number) => number) =>
    slow.reduce((sum, at) => sum + figureOf(at), 0) / slow.length;
  return {
    count: microseconds.length,
    p99: p99 / 1000,
    took: mean((at) => microseconds[at]! / 1000),
    serverWaited: mean((at) => waits.server[at]!),
    clientWaited: mean((at) => waits.client[at]!),
    collected: mean((at) => {
      const from = waits.askedAt[at]!;
      return collectedBetween(collections, from, from + microseconds[at]! / 1000);
    }),
  };
}

function collectedBetween(collections: readonly Collection[], from: number, to: number): number {
  let sum = 0;
  for (const { begunAt, milliseconds } of collections)
    sum += Math.max(0, Math.min(to, begunAt + milliseconds) - Math.max(from, begunAt));
  return sum;
}

function reportOf(columns: readonly [string, Slowest][]): string {
  const line = (name: string, of: (slowest: Slowest) => number) => [
    name,
    ...columns.map(([, slowest]) => `${of(slowest).toFixed(2)} ms`.padStart(10)),
  ];
  return [
    "The slowest hundredth of the requests at 200 a second, on average.",
    asText([
      ["", ...columns.map(([name]) => name)],
      ["requests", ...columns.map(([, { count }]) => String(count).padStart(10))],
      line("p99", ({ p99 }) => p99),
      line("the slowest hundredth took", ({ took }) => took),
      line("· the server's thread waited for a core", ({ serverWaited }) => serverWaited),
      line("· the client's thread waited for a core", ({ clientWaited }) => clientWaited),
      line("· garbage was collected in the server's thread", ({ collected }) => collected),
    ]),
  ].join("\n\n");
}
