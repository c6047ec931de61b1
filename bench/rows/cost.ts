/** Processor time of the server for each request of the mix, as a share of what a bare server takes beside it. */
import type { Checkout } from "../checkouts.ts";
import type { Effort } from "../effort.ts";
import type { Ground } from "../ground.ts";
import { allServed } from "../load.ts";
import { inTurn, median, spread } from "../measure.ts";
import { processorMicroseconds } from "../process-cost.ts";
import { type MixSizes, sizesOf } from "../requests.ts";
import type { Figure } from "../rows.ts";
import { type RunningServer, startBare, startProgram } from "../servers.ts";

/** Totals by the hour are taken whatever the settings. */
const noRequestLog = { USAGE_LOG_DAYS: "0" };

/** How the server of a row is started. */
export const costSetups = {
  warm: { factor: 1, isCold: false, settings: { LOG_LEVEL: "silent", ...noRequestLog } },
  log: { factor: 1, isCold: false, settings: { LOG_LEVEL: "info", ...noRequestLog } },
  metrics: {
    factor: 1,
    isCold: false,
    settings: { LOG_LEVEL: "info", ADMIN_ADDRESS: "127.0.0.1:0" },
  },
  cold: {
    factor: 1,
    isCold: true,
    settings: { LOG_LEVEL: "silent", ANSWER_CACHE_BYTES: "0", ...noRequestLog },
  },
  "cold-650k": {
    factor: 10,
    isCold: true,
    settings: { LOG_LEVEL: "silent", ANSWER_CACHE_BYTES: "0", ...noRequestLog },
  },
} as const;
export type CostRow = keyof typeof costSetups;

export const connections = 32;
const visitSecondsMax = 60;

/** A server that is visited once a round. */
interface Visited {
  name: string;
  server: RunningServer;
  requests: string;
  isCold: boolean;
  /** Requests so far. */
  answered: number;
}

export interface CostResult {
  figures: Figure[];
  sizes: MixSizes;
  /** What the bare server takes for a request, which tells how quick the machine was. */
  bareMicroseconds: number;
}

export async function measureCost(
  ground: Ground,
  asked: readonly CostRow[],
  effort: Effort,
): Promise<CostResult> {
  // What the large dataset is compared with has to be measured beside it.
  const names = asked.includes("cold-650k") ? [...new Set<CostRow>([...asked, "cold"])] : asked;
  const visited: Visited[] = [];
  for (const checkout of ground.checkouts)
    for (const row of names) visited.push(await startRow(ground, checkout, row));
  const { keys, requests } = await ground.published(ground.checkouts[0]!, 1);
  const sizes = await sizesOf(await ground.mix(), visited[0]!.server.port, keys[0]!);
  const server = await startBare(sizes);
  const bare: Visited = { name: "bare", server, requests, isCold: false, answered: 0 };
  const all = [bare, ...visited];
  for (const one of all) await visit(ground, one, effort.warmUp, 0);
  const countFor = ({ isCold }: Visited) =>
    isCold ? Math.ceil(effort.perVisit * coldShare) : effort.perVisit;
  const costs = await inTurn(
    effort.rounds,
    all.map((one) => ({
      name: one.name,
      run: (round) => visit(ground, one, countFor(one), round * effort.perVisit),
    })),
  );
  await Promise.all(all.map((one) => one.server.stop()));
  const figures = ground.checkouts.flatMap((checkout) =>
    asked.map((row) => {
      const name = visitedName(checkout, row);
      return figureOf(
        checkout,
        row,
        costs,
        all.find((one) => one.name === name)!,
      );
    }),
  );
  return { figures, sizes, bareMicroseconds: median(costs.get("bare")!) };
}

const visitedName = ({ name }: Checkout, row: CostRow) => `${name}: ${row}`;

async function startRow(ground: Ground, checkout: Checkout, row: CostRow): Promise<Visited> {
  const { factor, isCold, settings } = costSetups[row];
  const published = await ground.published(checkout, factor);
  const dataDir = ground.serverFolder(published);
  const server = await startProgram({ root: checkout.root, dataDir, settings });
  const { requests } = published;
  return { name: visitedName(checkout, row), server, requests, isCold, answered: 0 };
}

/** Where each answer is made anew, fewer will do. */
const coldShare = 1 / 4;

/** µs of processor time a request. */
async function visit(
  { load }: Ground,
  visited: Visited,
  count: number,
  firstRequest: number,
): Promise<number> {
  const { server, requests } = visited;
  const before = await processorMicroseconds(server);
  const { answered } = allServed(
    await load.run({
      port: server.port,
      requests,
      connections,
      count,
      firstRequest,
      secondsMax: visitSecondsMax,
    }),
  );
  visited.answered += answered;
  return ((await processorMicroseconds(server)) - before) / answered;
}

/** The median of the shares of all rounds: what disturbed a round has disturbed both. */
function figureOf(
  checkout: Checkout,
  row: CostRow,
  costs: ReadonlyMap<string, number[]>,
  { name, server, answered }: Visited,
): Figure {
  const own = costs.get(name)!;
  const base = costs.get(row === "cold-650k" ? visitedName(checkout, "cold") : "bare")!;
  const shares = own.map((cost, round) => base[round]! / cost);
  const lost = costSetups[row].settings.LOG_LEVEL === "info" ? answered - server.lineCount() : 0;
  return {
    row,
    checkout: checkout.name,
    value: median(shares),
    note: `${median(own).toFixed(1)} µs a request against ${median(base).toFixed(1)}, ±${Math.round(spread(shares) * 100)} %${lost > 0 ? `; ${lost} lines of the log were dropped` : ""}`,
  };
}
