/** Where the slowest requests beside an import spent their time: without a core, behind collections of garbage, or else. */
import type { Fixtures } from "../fixtures.ts";
import type { PacedResult } from "../load.ts";
import type { Effort } from "../options.ts";
import { asText } from "../report.ts";
import { openImportedServer } from "../rows/beside-import.ts";
import { askInside, hasProc } from "../servers.ts";
import { quantile } from "../statistics.ts";

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
export async function profileBesideImport(fixtures: Fixtures, effort: Effort): Promise<string> {
  if (!hasProc) throw new Error("--profile import-p99 needs /proc, which only Linux has.");
  const servers = await openImportedServer(fixtures, fixtures.checkouts[0]!);
  await servers.askAlone();
  await askInside(servers.server, "beginCollections");
  const before = await servers.askAlone(true);
  const { ofProgram, ofBare } = await servers.askBesideImports(effort.longRounds, true);
  const collections = await askInside<Collection[]>(servers.server, "endCollections");
  await servers.close();
  return reportOf([
    ["before", slowestOf(before, collections)],
    [`beside ${effort.longRounds} imports`, slowestOf(ofProgram, collections)],
    ["bare node:http meanwhile", slowestOf(ofBare, [])],
  ]);
}

function slowestOf(
  { microseconds, waits }: PacedResult,
  collections: readonly Collection[],
): Slowest {
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
