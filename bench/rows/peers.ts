/** The program beside what users would take instead, on the same records and questions: processor time of whole process trees, and memory. */
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { openCatalogue } from "#datasets/catalogue.ts";
import { followCurrent } from "#datasets/follow-current.ts";
import type { ReadModel } from "#search/read-model.ts";
import type { Fixtures } from "../fixtures.ts";
import { allServed } from "../load.ts";
import type { Effort } from "../options.ts";
import {
  foundByPath,
  type Found,
  openPeers,
  peerKinds,
  peerNames,
  type RunningPeer,
} from "../peer-services.ts";
import { byPath, compressedByPath, type Question, requestsOf } from "../requests.ts";
import { inOrderOf, measureRounds, type Session } from "../rounds.ts";
import type { Figure, RowName } from "../rows.ts";
import { openProcessorMeter, type RunningServer, startBare, treeBytes } from "../servers.ts";
import { estimate, median, uncertainty, uncertaintyMax } from "../statistics.ts";
import { connections, costSetups, settled, writtenMilliseconds } from "./cost.ts";

/** What was measured of one service; the program itself is one of them. */
export interface PeerFigure {
  name: string;
  title: string;
  /** µs a request, of each round; without what Redis takes for it. */
  microseconds: number[];
  /** Memory of its processes after each round. */
  megabytes: number[];
  bodyBytesMean: number;
}

export interface PeersMeasured {
  figures: Figure[];
  /** Bare Node first, the program second. */
  peers: PeerFigure[];
}

/** The service the others are held against. */
export const ownName = "gp-records";
const ownCompressed = "gp-records, compressed";

/** What each row compares. */
const pairs = {
  peers: { own: ownName, rival: "cached" },
  "peers-same": { own: ownName, rival: "same" },
  "peers-compressed": { own: ownCompressed, rival: "compressed" },
} as const satisfies Partial<Record<RowName, { own: string; rival: string }>>;
export const peerRows = Object.keys(pairs) as (keyof typeof pairs)[];

/** Requests of a round, and before it. */
interface PeerEffort {
  before: number;
  count: number;
}

/** Of services that make or compress each answer anew, which takes far longer than the code that V8 would settle. */
const fewer: Readonly<Record<string, PeerEffort>> = {
  "gp-records, cold": { before: 30_000, count: 5000 },
  compressed: { before: 15_000, count: 2500 },
  fastify: { before: 800, count: 300 },
  postgraphile: { before: 400, count: 150 },
};
const turns = 40;
const secondsMax = 600;

interface Side extends PeerFigure {
  start(): Promise<RunningServer & { databasePid?: number }>;
  /** Name under which the load client knows what it is asked. */
  requests: string;
  effort: PeerEffort;
  /** What Redis takes for it, µs a request, of each round; empty where there is none. */
  redisMicroseconds: number[];
}

/** @throws Error where a peer does not answer as the program does. */
export async function measurePeers(
  fixtures: Fixtures,
  effort: Effort,
  tell: (what: string) => void,
): Promise<PeersMeasured> {
  const sides = await openSides(fixtures, tell);
  const { load, checkouts } = fixtures;
  const sideOf = (wanted: string) => sides.find(({ name }) => name === wanted)!;
  let running: (RunningServer & { databasePid?: number })[] = [];
  const stopAll = async () => {
    const all = running;
    running = [];
    await Promise.all(all.map((server) => server.stop()));
  };
  const orderOf = (i: number, count: number, firstRequest: number) => {
    const { requests } = sides[i]!;
    return { port: running[i]!.port, requests, connections, count, firstRequest, secondsMax };
  };
  /** Asks these sides in turn, and adds what it cost. */
  const measureTogether = async (group: readonly number[], round: number) => {
    await wait(writtenMilliseconds);
    const meters = group.map((i) =>
      openProcessorMeter([running[i]!.pid, ...databaseOf(running[i]!)]),
    );
    const redisMeters = group.map((i) => {
      const pid = running[i]!.helpers?.get("Redis");
      return pid === undefined ? null : openProcessorMeter([pid]);
    });
    const orders = group.map((i) => {
      const { before, count } = sides[i]!.effort;
      return orderOf(i, count, before);
    });
    const results = await load.runInBursts({ orders, turns, isReversed: round % 2 === 1 });
    await wait(writtenMilliseconds);
    for (const [place, i] of group.entries()) {
      const { answered, bytes } = allServed(results[place]!);
      const side = sides[i]!;
      side.microseconds.push(meters[place]!() / answered);
      const ofRedis = redisMeters[place];
      if (ofRedis != null) side.redisMicroseconds.push(ofRedis() / answered);
      side.megabytes.push(treeBytes([running[i]!.pid, ...databaseOf(running[i]!)]) / 1e6);
      side.bodyBytesMean = bytes / answered;
    }
  };
  const session: Session = {
    /** With new processes each time, as in cost.ts. */
    async round(round) {
      running = await Promise.all(sides.map(({ start }) => start()));
      for (const i of inOrderOf(round, [...sides.keys()]))
        allServed(await load.run(orderOf(i, sides[i]!.effort.before, 0)));
      // Those that take long come after the others: a turn of theirs leaves nothing of others' in the processor's caches.
      const isQuick = (i: number) => sides[i]!.effort === settled;
      const all = [...sides.keys()];
      await measureTogether(all.filter(isQuick), round);
      await measureTogether(
        all.filter((i) => !isQuick(i)),
        round,
      );
      await stopAll();
      return peerRows.map((row) => {
        const [own, rival] = [sideOf(pairs[row].own), sideOf(pairs[row].rival)];
        const value = own.microseconds.at(-1)! / rival.microseconds.at(-1)!;
        return { row, checkout: checkouts[0]!.name, value };
      });
    },
    note(row) {
      const { own, rival } = pairs[row as (typeof peerRows)[number]];
      const { microseconds: ours } = sideOf(own);
      const { microseconds: theirs, redisMicroseconds } = sideOf(rival);
      const costs = `${median(ours).toFixed(1)} µs a request against ${median(theirs).toFixed(1)}`;
      if (redisMicroseconds.length === 0) return costs;
      const whole = ours.map((one, round) => one / (theirs[round]! + redisMicroseconds[round]!));
      return `${costs}; with the ${median(redisMicroseconds).toFixed(1)} µs of its Redis ${median(whole).toFixed(2)}×`;
    },
    close: stopAll,
  };
  const rounds = effort.longRounds;
  const budget = {
    rounds,
    roundsMax: rounds * effort.roundsFactorMax,
    secondsMax: effort.secondsMax,
  };
  const figures = await measureRounds(session, budget, (all) =>
    all.every(({ values }) => uncertainty(estimate(values)) <= uncertaintyMax),
  );
  const peers = sides.map(({ name, title, microseconds, megabytes, bodyBytesMean }) => ({
    name,
    title,
    microseconds,
    megabytes,
    bodyBytesMean,
  }));
  return { figures, peers };
}

/**
 * The read model of what is published in a data folder.
 * @throws Error where it cannot be loaded.
 */
async function openPublished(dataDir: string): Promise<ReadModel> {
  let fault = new Error(`Nothing is published in ${dataDir}.`);
  const follower = followCurrent({
    catalogue: openCatalogue(join(dataDir, "datasets")),
    onModel() {},
    onFault: (found) => (fault = found),
    now: () => performance.now(),
  });
  await follower.look();
  await follower.close();
  return follower.model() ?? Promise.reject(fault);
}

const databaseOf = ({ databasePid }: { databasePid?: number }) =>
  databasePid === undefined ? [] : [databasePid];

async function openSides(fixtures: Fixtures, tell: (what: string) => void): Promise<Side[]> {
  const [own] = fixtures.checkouts;
  const published = await fixtures.published(own!, 1);
  const [mix, answers] = [await fixtures.mix(), await fixtures.answers()];
  const model = await openPublished(published.dataDir);
  const { keys, requests } = published;
  const sideOf = (name: string, side: Pick<Side, "title" | "start" | "requests">): Side => ({
    name,
    effort: fewer[name] ?? settled,
    microseconds: [],
    redisMicroseconds: [],
    megabytes: [],
    bodyBytesMean: 0,
    ...side,
  });
  const program = (settings: Readonly<Record<string, string>>) => () =>
    fixtures.start(own!, { dataDir: fixtures.serverFolder(published), settings });
  const sides = [
    sideOf("bare", { title: "bare node:http", requests, start: () => startBare(answers) }),
    sideOf(ownName, {
      title: "gp-records, with log, metrics and recording",
      requests,
      start: program(costSetups.all.settings),
    }),
    sideOf("gp-records, cold", {
      title: "the same, each answer made anew",
      requests,
      start: program({ ...costSetups.all.settings, ANSWER_CACHE_BYTES: "0" }),
    }),
    sideOf(ownCompressed, {
      title: "gp-records, asked by clients that accept compression",
      requests: ownCompressed,
      start: program(costSetups.all.settings),
    }),
  ];
  fixtures.load.prepare(ownCompressed, requestsOf(mix, keys, compressedByPath));
  const peers = await openPeers(fixtures.emptyFolder(), model.parts, keys, tell);
  for (const name of peerNames) {
    const { title, questionOf } = peerKinds[name];
    fixtures.load.prepare(name, requestsOf(mix, keys, questionOf));
    sides.push(sideOf(name, { title, requests: name, start: () => peers.start(name) }));
  }
  tell("comparing the answers of the peers with the program's");
  const expected = await foundBy(await sides[1]!.start(), (server) =>
    askAll(server, mix.targets, keys[0]!, byPath, foundByPath),
  );
  for (const name of peerNames) {
    const { questionOf, foundIn } = peerKinds[name];
    const found = await foundBy(await peers.start(name), (server) =>
      askAll(server, mix.targets, keys[0]!, questionOf, foundIn),
    );
    agree(name, expected, found);
  }
  return sides;
}

async function foundBy<T, S extends RunningServer | RunningPeer>(
  server: S,
  ask: (server: S) => Promise<T>,
): Promise<T> {
  try {
    return await ask(server);
  } finally {
    await server.stop();
  }
}

/** Asked at the same time; PostgreSQL has no more than two cores to do anyway. */
const askedAtOnce = 4;

/** Target → what was found. */
async function askAll(
  { port }: RunningServer,
  targets: readonly string[],
  key: string,
  questionOf: (target: string, key: string) => Question,
  foundIn: (body: unknown) => Found,
): Promise<Map<string, Found>> {
  const found = new Map<string, Found>();
  const upcoming = targets.values();
  const askOn = async () => {
    for (const target of upcoming) {
      const { path, headers, body } = questionOf(target, key);
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        headers,
        ...(body !== undefined && { method: "POST", body }),
      });
      const text = await response.text();
      if (response.status !== 200)
        throw new Error(`${target} was answered with ${response.status}: ${text.slice(0, 300)}`);
      found.set(target, foundIn(JSON.parse(text)));
    }
  };
  await Promise.all(Array.from({ length: askedAtOnce }, askOn));
  return found;
}

/**
 * Totals and first records have to be the same, in the same order: else other work would be compared.
 * @throws Error naming the first question whose answers differ.
 */
function agree(
  name: string,
  expected: ReadonlyMap<string, Found>,
  found: ReadonlyMap<string, Found>,
): void {
  const tell = ({ total, ids }: Found) => `${total} in all, then ${ids.slice(0, 3).join(" ")}`;
  for (const [target, ours] of expected) {
    const theirs = found.get(target);
    if (theirs === undefined) throw new Error(`${name} was not asked ${target}.`);
    if (ours.total !== theirs.total || ours.ids.join() !== theirs.ids.join())
      throw new Error(
        `${name} answers ${target} differently: ${tell(theirs)}; the program: ${tell(ours)}.`,
      );
  }
}
