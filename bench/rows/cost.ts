/** Processor time of the server for each request of the mix, against a bare server, another commit or the program without engines, asked in the same rounds. */
import { setTimeout as wait } from "node:timers/promises";
import { type EngineSet, openInstallation } from "../engines.ts";
import type { Checkout, Fixtures } from "../fixtures.ts";
import { allServed, type LoadClient } from "../load.ts";
import type { Effort } from "../options.ts";
import { requestText } from "../requests.ts";
import type { Candidate, Session } from "../rounds.ts";
import {
  openProcessorMeter,
  openTreeMeter,
  type ProgramOrder,
  type RunningServer,
  startBare,
} from "../servers.ts";
import { median } from "../statistics.ts";

/** Totals by the hour are taken whatever the settings. */
const noRequestLog = { USAGE_LOG_DAYS: "0" };

interface CostSetup {
  /** Of how many times the usual records. */
  factor: 1 | 10;
  isCold: boolean;
  settings: Readonly<Record<string, string>>;
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
  warm: { factor: 1, isCold: false, settings: { LOG_LEVEL: "silent", ...noRequestLog } },
  log: { factor: 1, isCold: false, settings: { LOG_LEVEL: "info", ...noRequestLog } },
  all: { factor: 1, isCold: false, settings: everything },
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

export const connections = 32;
/** Asked of one server before it is the other's turn: few enough for both to meet the same noise. */
const burst = 200;
const secondsMax = 120;
/** Where each answer is made anew, fewer will do. */
const coldShare = 1 / 3;
/** What was noted of a request is written a second later, by another thread; that is part of its cost. */
export const writtenMilliseconds = 1500;

/** One of the two servers of a row. */
interface Side {
  name: string;
  requests: string;
  start(): Promise<RunningServer>;
  /** µs a request, of each round. */
  costs: number[];
  /** Likewise of what serves it, by name. */
  helperCosts: Map<string, number[]>;
  hasLog: boolean;
  linesLost: number;
  answered: number;
  server: RunningServer | null;
}

/** Without another commit a value is the share that the base's cost is of the program's; with one, the requests for a second of processor time. */
export async function openCost(row: CostRow, fixtures: Fixtures, effort: Effort): Promise<Session> {
  const { checkouts, load } = fixtures;
  const isCompared = checkouts.length > 1;
  const sides: Side[] = isCompared ? [] : [await baseOf(row, fixtures)];
  for (const checkout of checkouts) sides.push(await programOf(row, fixtures, checkout));
  const share = costSetups[row].isCold ? coldShare : 1;
  // Each instance is asked as much as a single one would be, by as many connections.
  const { instances = 1 }: CostSetup = costSetups[row];
  const perRound = Math.ceil(effort.perRound * share) * instances;
  const warmUp = Math.ceil(effort.warmUp * share) * instances;

  const ask = async (count: number, firstRequest: number, isReversed: boolean) => {
    const results = await load.runInBursts({
      orders: sides.map(({ server, requests }) => ({
        port: server!.port,
        siblingPorts: (server!.siblings ?? []).map(({ port }) => port),
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
        side.linesLost += Math.max(0, side.answered - server.lineCount());
    };
    await Promise.all(sides.map(stop));
  };
  const startAll = async () => {
    for (const side of sides) side.answered = 0;
    await Promise.all(sides.map(async (side) => (side.server = await side.start())));
  };

  return {
    /**
     * With new processes each time: two of the same program differ by some percent for as long as they run, by how V8 compiled them
     * and where their memory lies. Rounds of the same processes would agree with each other and not with the next ones.
     */
    async round(round) {
      const isReversed = round % 2 === 1;
      await startAll();
      await ask(warmUp, 0, isReversed);
      await wait(writtenMilliseconds);
      const meters = await Promise.all(sides.map(({ server }) => openProcessorMeter(server!)));
      const helperMeters = sides.map(({ server }) =>
        Array.from(server!.helpers ?? [], ([name, pid]) => [name, openTreeMeter([pid])] as const),
      );
      const results = await ask(perRound, round * perRound, isReversed);
      await wait(writtenMilliseconds);
      for (const [i, { costs, helperCosts }] of sides.entries()) {
        const { answered } = results[i]!;
        costs.push((await meters[i]!.microseconds()) / answered);
        for (const [name, microseconds] of helperMeters[i]!)
          helperCosts.getOrInsertComputed(name, () => []).push(microseconds() / answered);
      }
      await stopAll();
      const [first, second] = sides.map(({ costs }) => costs.at(-1)!) as [number, number];
      const sampleOf = (checkout: number, value: number) => ({
        row,
        checkout: checkouts[checkout]!.name,
        value,
      });
      return isCompared
        ? [sampleOf(0, 1e6 / first), sampleOf(1, 1e6 / second)]
        : [sampleOf(0, first / second)];
    },
    note(_, checkout) {
      const own = sides.find(({ name }) => name === checkout)!;
      const other = sides.find((side) => side !== own)!;
      const lost = own.linesLost > 0 ? `; ${own.linesLost} lines of the log were dropped` : "";
      const helpers = Array.from(
        own.helperCosts,
        ([name, costs]) => `; ${name} ${median(costs).toFixed(1)} µs more`,
      ).join("");
      return `${median(own.costs).toFixed(1)} µs a request against ${median(other.costs).toFixed(1)}${helpers}${lost}`;
    },
    close: stopAll,
  };
}

interface Program {
  requests: string;
  start(order: Pick<ProgramOrder, "isWatched">): Promise<RunningServer>;
}

/** The program as it is measured in this row. */
export async function openProgram(
  row: CostRow,
  fixtures: Fixtures,
  checkout: Checkout,
): Promise<Program> {
  const { factor, settings, accept, engines, instances = 1 }: CostSetup = costSetups[row];
  if (engines !== undefined) {
    const { requests, start } = await openInstallation(engines, instances, fixtures, checkout);
    return { requests, start: (order) => start({ ...order, settings }) };
  }
  const published = await fixtures.published(checkout, factor);
  return {
    requests: await fixtures.requests(published, accept),
    start: (order) =>
      fixtures.start(checkout, { ...order, dataDir: fixtures.serverFolder(published), settings }),
  };
}

async function programOf(row: CostRow, fixtures: Fixtures, checkout: Checkout): Promise<Side> {
  const { requests, start } = await openProgram(row, fixtures, checkout);
  return {
    name: checkout.name,
    requests,
    start: () => start({}),
    costs: [],
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
    costs: [],
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
      const meter = await openProcessorMeter(server);
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
      return (await meter.microseconds()) / answered;
    },
  };
}
