/** Processor time of the server for each request of the mix, against a bare server, another commit or the program without engines, asked in the same rounds. */
import { setTimeout as wait } from "node:timers/promises";
import { type EngineSet, openInstallation } from "../engines.ts";
import type { Checkout, Fixtures } from "../fixtures.ts";
import { allServed, type LoadClient } from "../load.ts";
import { requestText } from "../requests.ts";
import type { Candidate, Sample, Session } from "../rounds.ts";
import type { RowName } from "../rows.ts";
import { openProcessorMeter, pidsOf, type RunningServer, startBare } from "../servers.ts";
import { median } from "../statistics.ts";

/** Totals by the hour are taken whatever the settings. */
const noRequestLog = { USAGE_LOG_DAYS: "0" };

interface CostSetup {
  /** Of how many times the usual records. */
  factor: 1 | 10;
  isCold: boolean;
  settings: Readonly<Record<string, string>>;
  /** The row of the first requests of the same processes, if there is one. */
  young?: RowName;
  /** The format that is asked for; without it JSON. */
  accept?: string;
  /** What it shares with other instances; without it the program keeps all in its data folder. */
  engines?: EngineSet;
  /** How many instances are on the engines; without it one. */
  instances?: number;
}

const cold = {
  factor: 1,
  isCold: true,
  settings: { LOG_LEVEL: "silent", ANSWER_CACHE_BYTES: "0", ...noRequestLog },
} as const;
const everything = { LOG_LEVEL: "info", ADMIN_ADDRESS: "127.0.0.1:0" };

/** How the server of a row is started. */
export const costSetups = {
  warm: {
    factor: 1,
    isCold: false,
    settings: { LOG_LEVEL: "silent", ...noRequestLog },
    young: "warm-young",
  },
  log: {
    factor: 1,
    isCold: false,
    settings: { LOG_LEVEL: "info", ...noRequestLog },
    young: "log-young",
  },
  all: { factor: 1, isCold: false, settings: everything, young: "all-young" },
  cold,
  "cold-650k": { ...cold, factor: 10 },
  "cold-ndjson": { ...cold, accept: "application/x-ndjson" },
  "cold-csv": { ...cold, accept: "text/csv" },
  "engines-valkey": { factor: 1, isCold: false, settings: everything, engines: "valkey" },
  "engines-postgres": { factor: 1, isCold: false, settings: everything, engines: "postgres" },
  "engines-four": {
    factor: 1,
    isCold: false,
    settings: everything,
    engines: "valkey",
    instances: 4,
  },
} satisfies Record<string, CostSetup>;
export type CostRow = keyof typeof costSetups;

/** All rows that are measured on the processes of one. */
export const rowsOnProcessesOf = (row: CostRow): readonly RowName[] => {
  const { young }: CostSetup = costSetups[row];
  return young === undefined ? [row] : [young, row];
};

/** Which requests of a process count. */
interface Stage {
  /** So many are asked before. */
  before: number;
  count: number;
  /** So often, one after the other; the median counts. */
  times: number;
}

/** While most of the code is interpreted, and no answer is remembered. */
const young: Stage = { before: 0, count: 10_000, times: 1 };
/** V8 compiles the path of a request anew until 75,000 to 110,000 were answered. */
export const settled: Stage = { before: 120_000, count: 20_000, times: 3 };

export const connections = 32;
/** Asked of one server before it is the other's turn: few enough for both to meet the same noise. */
const burst = 200;
const secondsMax = 600;
/** Where each answer is made anew, V8 has settled after 40,000. */
const coldShare = 1 / 3;
/** What was noted of a request is written a second later, by another thread; that is part of its cost. */
export const writtenMilliseconds = 1500;

/** One of the two servers of a row. */
interface Side {
  name: string;
  requests: string;
  start(): Promise<RunningServer>;
  /** µs a request, of each round, by row. */
  costs: Map<RowName, number[]>;
  /** Likewise of what serves it, by name. */
  helperCosts: Map<string, number[]>;
  hasLog: boolean;
  linesLost: number;
  answered: number;
  server: RunningServer | null;
}

/**
 * Without another commit a value is the share that the base's cost is of the program's; with one, the requests for a second of processor time.
 * @param wanted rows among those on the processes of `row`.
 */
export async function openCost(
  row: CostRow,
  fixtures: Fixtures,
  wanted: readonly RowName[],
): Promise<Session> {
  const { checkouts, load } = fixtures;
  const isCompared = checkouts.length > 1;
  const sides: Side[] = isCompared ? [] : [await baseOf(row, fixtures)];
  for (const checkout of checkouts) sides.push(await programOf(row, fixtures, checkout));
  const share = costSetups[row].isCold ? coldShare : 1;
  // Each instance is asked as much as a single one would be, by as many connections.
  const { instances = 1 }: CostSetup = costSetups[row];
  const stages = rowsOnProcessesOf(row)
    .filter((one) => wanted.includes(one))
    .map((one) => ({ row: one, ...(one === row ? settled : young) }));

  /** Counted as one would ask a single server that answers from its cache. */
  const ask = async (requests: number, before: number, isReversed: boolean) => {
    const [count, firstRequest] = [requests, before].map(
      (one) => Math.ceil(one * share) * instances,
    ) as [number, number];
    const results = await load.runInBursts({
      orders: sides.map(({ server, requests }) => ({
        port: server!.port,
        siblingPorts: server!.siblingPorts ?? [],
        requests,
        connections: connections * instances,
        count,
        firstRequest,
        secondsMax,
      })),
      turns: Math.ceil(count / (burst * share)),
      isReversed,
    });
    for (const [i, side] of sides.entries()) side.answered += allServed(results[i]!).answered;
    return results;
  };
  const stopAll = async () => {
    const stop = async (side: Side) => {
      const { server } = side;
      side.server = null;
      await server?.stop();
      if (side.hasLog && server !== null)
        side.linesLost += Math.max(0, side.answered - server.lineCount!());
    };
    await Promise.all(sides.map(stop));
  };
  const startAll = async () => {
    for (const side of sides) side.answered = 0;
    await Promise.all(sides.map(async (side) => (side.server = await side.start())));
  };
  /** @returns µs a request of each side. */
  const measure = async (count: number, before: number, isReversed: boolean) => {
    const meters = sides.map(({ server }) => openProcessorMeter(pidsOf(server!)));
    const helperMeters = sides.map(({ server }) =>
      Array.from(
        server!.helpers ?? [],
        ([name, pid]) => [name, openProcessorMeter([pid])] as const,
      ),
    );
    const results = await ask(count, before, isReversed);
    await wait(writtenMilliseconds);
    for (const [i, { helperCosts }] of sides.entries())
      for (const [name, microseconds] of helperMeters[i]!)
        helperCosts.getOrInsertComputed(name, () => []).push(microseconds() / results[i]!.answered);
    return meters.map((microseconds, i) => microseconds() / results[i]!.answered);
  };

  return {
    /**
     * With new processes each time: two of the same program differ by some percent for as long as they run, by how V8 compiled them
     * and where their memory lies. Rounds of the same processes would agree with each other and not with the next ones.
     */
    async round(round) {
      await startAll();
      const samples: Sample[] = [];
      let asked = 0;
      for (const { row: name, before, count, times } of stages) {
        if (before > asked) {
          await ask(before - asked, asked, round % 2 === 1);
          await wait(writtenMilliseconds);
          asked = before;
        }
        const all: number[][] = [];
        for (let time = 0; time < times; time++, asked += count)
          all.push(await measure(count, asked, (round + time) % 2 === 1));
        const [first, second] = sides.map(({ costs }, i) => {
          const cost = median(all.map((one) => one[i]!));
          costs.getOrInsertComputed(name, () => []).push(cost);
          return cost;
        }) as [number, number];
        const values = isCompared ? [1e6 / first, 1e6 / second] : [first / second];
        for (const [i, value] of values.entries())
          samples.push({ row: name, checkout: checkouts[i]!.name, value });
      }
      await stopAll();
      return samples;
    },
    note(name, checkout) {
      const own = sides.find(({ name }) => name === checkout)!;
      const other = sides.find((side) => side !== own)!;
      const lost = own.linesLost > 0 ? `; ${own.linesLost} lines of the log were dropped` : "";
      const helpers = Array.from(
        own.helperCosts,
        ([name, costs]) => `; ${name} ${median(costs).toFixed(1)} µs more`,
      ).join("");
      const costOf = ({ costs }: Side) => median(costs.get(name)!).toFixed(1);
      return `${costOf(own)} µs a request against ${costOf(other)}${helpers}${lost}`;
    },
    close: stopAll,
  };
}

interface Program {
  requests: string;
  start(): Promise<RunningServer>;
}

/** The program as it is measured in this row. */
async function openProgram(row: CostRow, fixtures: Fixtures, checkout: Checkout): Promise<Program> {
  const { factor, settings, accept, engines, instances = 1 }: CostSetup = costSetups[row];
  if (engines !== undefined) {
    const { requests, start } = await openInstallation(engines, instances, fixtures, checkout);
    return { requests, start: () => start(settings) };
  }
  const published = await fixtures.published(checkout, factor);
  return {
    requests: await fixtures.requests(published, accept),
    start: () => fixtures.start(checkout, { dataDir: fixtures.serverFolder(published), settings }),
  };
}

async function programOf(row: CostRow, fixtures: Fixtures, checkout: Checkout): Promise<Side> {
  const { requests, start } = await openProgram(row, fixtures, checkout);
  return {
    name: checkout.name,
    requests,
    start,
    costs: new Map(),
    helperCosts: new Map(),
    hasLog: costSetups[row].settings.LOG_LEVEL === "info",
    linesLost: 0,
    answered: 0,
    server: null,
  };
}

/** The bare server; for ten times the records the same row at the usual number of them, for engines the program without. */
async function baseOf(row: CostRow, fixtures: Fixtures): Promise<Side> {
  const [own] = fixtures.checkouts;
  if (row === "cold-650k") {
    const cold = await programOf("cold", fixtures, own!);
    return { ...cold, name: "cold" };
  }
  if ("engines" in costSetups[row]) {
    const embedded = await programOf("all", fixtures, own!);
    return { ...embedded, name: "embedded" };
  }
  const { accept }: CostSetup = costSetups[row];
  const [answers, published] = [await fixtures.answers(accept), await fixtures.published(own!, 1)];
  return {
    name: "bare",
    requests: await fixtures.requests(published, accept),
    start: () => startBare(answers),
    costs: new Map(),
    helperCosts: new Map(),
    hasLog: false,
    linesLost: 0,
    answered: 0,
    server: null,
  };
}

/** Paths and queries that are asked with one key. */
interface CostOrder {
  name: string;
  targets: readonly string[];
  key: string;
  connections: number;
  /** How many requests for one figure, through the targets and round again. */
  count: number;
}

const candidateSecondsMax = 20;

/** Its figures are µs of the server's processor time for a request. */
export function costCandidate(
  load: LoadClient,
  server: RunningServer,
  { name, targets, key, connections: used, count }: CostOrder,
): Candidate<number> {
  const requests = `${server.pid} ${targets[0]} ${name}`;
  load.prepare(
    requests,
    targets.map((target) => requestText(target, { "x-api-key": key })),
  );
  return {
    name,
    async run() {
      const microseconds = openProcessorMeter([server.pid]);
      const { answered } = allServed(
        await load.run({
          port: server.port,
          requests,
          connections: used,
          count,
          firstRequest: 0,
          secondsMax: candidateSecondsMax,
        }),
      );
      return microseconds() / answered;
    },
  };
}
