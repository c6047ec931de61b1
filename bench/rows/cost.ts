/** Processor time of the server for each request of the mix, against a bare server, a peer, another commit or the program without engines, asked in the same rounds. */
import { setTimeout as wait } from "node:timers/promises";
import { type EngineSet, openInstallation } from "../engines.ts";
import type { Checkout, Fixtures } from "../fixtures.ts";
import { allServed, type LoadClient } from "../load.ts";
import { openPeer, type PeerName } from "../peer-services.ts";
import { requestText } from "../requests.ts";
import type { Candidate, Sample, Session } from "../rounds.ts";
import type { RowName } from "../rows.ts";
import {
  openProcessorMeter,
  pidsOf,
  type RunningServer,
  startBare,
  treeBytes,
} from "../servers.ts";
import { median } from "../statistics.ts";

/** Totals by the hour are taken whatever the settings. */
const noRequestLog = { USAGE_LOG_DAYS: "0" };

interface CostSetup {
  settings: Readonly<Record<string, string>>;
  /** Of ten times the usual records. */
  factor?: 10;
  /** How many requests are enough, as a share of those that settle a server which answers from its cache. */
  share?: number;
  /** The row of the first requests of the same processes, if there is one. */
  young?: RowName;
  /** What it shares with other instances; without it the program keeps all in its data folder. */
  engines?: EngineSet;
  /** How many instances are on the engines; without it one. */
  instances?: number;
  /** What it is held against in place of a bare server. */
  peer?: PeerName;
  /** What clients send beside their key. */
  headers?: Readonly<Record<string, string>>;
}

/** Where each answer is made anew, V8 has settled after 40,000. */
const cold = {
  settings: { LOG_LEVEL: "silent", ANSWER_CACHE_BYTES: "0", ...noRequestLog },
  share: 1 / 3,
};
const everything = { settings: { LOG_LEVEL: "info", ADMIN_ADDRESS: "127.0.0.1:0" } };

/** How the server of a row is started. */
export const costSetups = {
  warm: { settings: { LOG_LEVEL: "silent", ...noRequestLog }, young: "warm-young" },
  log: { settings: { LOG_LEVEL: "info", ...noRequestLog }, young: "log-young" },
  all: { ...everything, young: "all-young" },
  cold,
  "cold-650k": { ...cold, factor: 10 },
  "engines-valkey": { ...everything, engines: "valkey" },
  "engines-postgres": { ...everything, engines: "postgres" },
  "engines-four": { ...everything, engines: "valkey", instances: 4 },
  peers: { ...everything, peer: "lean" },
  "peers-same": { ...everything, peer: "same" },
  "peers-compressed": {
    ...everything,
    peer: "compressing",
    headers: { "accept-encoding": "gzip, deflate, br" },
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
/** What was noted of a request is written a second later, by another thread; that is part of its cost. */
export const writtenMilliseconds = 1500;

/** One of the two servers of a row. */
interface Side {
  name: string;
  /** Name under which the load client knows what it is asked. */
  requests: string;
  start(): Promise<RunningServer>;
  share: number;
}

/** What was measured of a side. */
interface Books {
  /** µs a request, of each round, by row. */
  costs: Map<RowName, number[]>;
  /** Likewise of what serves it, by name. */
  helperCosts: Map<string, number[]>;
  /** Memory of its processes, after each round. */
  megabytes: number[];
  linesLost: number;
  answered: number;
  server: RunningServer | null;
}

/**
 * Without another commit a value is the share that the base's cost is of the program's, or of a peer the program's; with one, the
 * requests for a second of processor time.
 * @param wanted rows among those on the processes of `row`.
 */
export async function openCost(
  row: CostRow,
  fixtures: Fixtures,
  wanted: readonly RowName[],
): Promise<Session> {
  const { checkouts, load } = fixtures;
  const isCompared = checkouts.length > 1;
  const { instances = 1, peer, settings }: CostSetup = costSetups[row];
  const all: Side[] = isCompared ? [] : [await baseOf(row, fixtures)];
  for (const checkout of checkouts) all.push(await programOf(row, fixtures, checkout));
  const sides = all.map((side): Side & Books => ({
    ...side,
    costs: new Map(),
    helperCosts: new Map(),
    megabytes: [],
    linesLost: 0,
    answered: 0,
    server: null,
  }));
  const stages = rowsOnProcessesOf(row)
    .filter((one) => wanted.includes(one))
    .map((one) => ({ row: one, ...(one === row ? settled : young) }));

  /** Counted as one would ask a single server that answers from its cache: each instance is asked as much, by as many connections. */
  const ask = async (requests: number, before: number, isReversed: boolean) => {
    const results = await load.runInBursts({
      orders: sides.map(({ server, share, requests: name }) => ({
        port: server!.port,
        siblingPorts: server!.siblingPorts ?? [],
        requests: name,
        connections: connections * instances,
        count: Math.ceil(requests * share) * instances,
        firstRequest: Math.ceil(before * share) * instances,
        secondsMax,
      })),
      turns: Math.ceil((requests * instances) / burst),
      isReversed,
    });
    for (const [i, side] of sides.entries()) side.answered += allServed(results[i]!).answered;
    return results;
  };
  const stopAll = async () => {
    const stop = async (side: Side & Books) => {
      const { server } = side;
      side.server = null;
      await server?.stop();
      if (settings.LOG_LEVEL === "info" && server?.lineCount !== undefined)
        side.linesLost += Math.max(0, side.answered - server.lineCount());
    };
    await Promise.all(sides.map(stop));
  };
  const startAll = async () => {
    for (const side of sides) side.answered = 0;
    await Promise.all(sides.map(async (side) => (side.server = await side.start())));
  };
  /** Returns µs a request of each side. */
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
        const figures: number[][] = [];
        for (let time = 0; time < times; time++, asked += count)
          figures.push(await measure(count, asked, (round + time) % 2 === 1));
        const [first, second] = sides.map(({ costs }, i) => {
          const cost = median(figures.map((one) => one[i]!));
          costs.getOrInsertComputed(name, () => []).push(cost);
          return cost;
        }) as [number, number];
        const share = peer === undefined ? first / second : second / first;
        const values = isCompared ? [1e6 / first, 1e6 / second] : [share];
        for (const [i, value] of values.entries())
          samples.push({ row: name, checkout: checkouts[i]!.name, value });
      }
      for (const { server, megabytes } of sides) megabytes.push(treeBytes(pidsOf(server!)) / 1e6);
      await stopAll();
      return samples;
    },
    note(name, checkout) {
      const own = sides.find((side) => side.name === checkout)!;
      const other = sides.find((side) => side !== own)!;
      const costOf = ({ costs }: Books) => median(costs.get(name)!).toFixed(1);
      const memoryOf = ({ megabytes }: Books) => median(megabytes).toFixed(0);
      return [
        `${costOf(own)} µs a request against ${costOf(other)}`,
        ...(peer === undefined ? [] : [`${memoryOf(own)} MB against ${memoryOf(other)}`]),
        ...sides.flatMap(({ helperCosts }) =>
          Array.from(helperCosts, ([name, costs]) => `${name} ${median(costs).toFixed(1)} µs more`),
        ),
        ...(own.linesLost > 0 ? [`${own.linesLost} lines of the log were dropped`] : []),
      ].join("; ");
    },
    close: stopAll,
  };
}

/** The program as it is measured in a row. */
async function programOf(
  row: CostRow,
  fixtures: Fixtures,
  checkout: Checkout,
  name = checkout.name,
): Promise<Side> {
  const setup: CostSetup = costSetups[row];
  const { settings, factor = 1, share = 1, engines, instances = 1, headers } = setup;
  if (engines !== undefined) {
    const { requests, start } = await openInstallation(engines, instances, fixtures, checkout);
    return { name, requests, share, start: () => start(settings) };
  }
  const published = await fixtures.published(checkout, factor);
  return {
    name,
    requests: await fixtures.requests(published, headers),
    share,
    start: () => fixtures.start(checkout, { dataDir: fixtures.serverFolder(published), settings }),
  };
}

/** The bare server or a peer; for ten times the records the same row at the usual number of them, for engines the program without. */
async function baseOf(row: CostRow, fixtures: Fixtures): Promise<Side> {
  const own = fixtures.checkouts[0]!;
  if (row === "cold-650k") return programOf("cold", fixtures, own, "cold");
  const { engines, peer, headers, share = 1 }: CostSetup = costSetups[row];
  if (engines !== undefined) return programOf("all", fixtures, own, "embedded");
  const requests = await fixtures.requests(await fixtures.published(own, 1), headers);
  if (peer !== undefined) return { name: peer, requests, ...(await openPeer(peer, fixtures)) };
  const answers = await fixtures.answers();
  return { name: "bare", requests, share, start: () => startBare(answers) };
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
