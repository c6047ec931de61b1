/** The program beside what users would take instead, on the same records and questions: processor time of whole process trees, and memory. */
import { setTimeout as wait } from "node:timers/promises";
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
import { byPath, type Question, requestsOf } from "../requests.ts";
import { inOrderOf, measureRounds, type Session } from "../rounds.ts";
import type { Figure } from "../rows.ts";
import { openProcessorMeter, type RunningServer, startBare, treeBytes } from "../servers.ts";
import { estimate, median, uncertainty, uncertaintyMax } from "../statistics.ts";
import { openPublished } from "../steps/asked.ts";
import { connections, costSetups, writtenMilliseconds } from "./cost.ts";

/** What was measured of one service; the program itself is one of them. */
export interface PeerFigure {
  name: string;
  title: string;
  /** µs a request, of each round. */
  microseconds: number[];
  /** Memory of its processes after each round. */
  megabytes: number[];
  bodyBytesMean: number;
}

export interface PeersMeasured {
  /** The row `peers`. */
  figure: Figure;
  /** Bare Node first, the program second. */
  peers: PeerFigure[];
}

/** The service the others are held against, and the one it is held against itself. */
export const ownName = "gp-records";
export const rivalName = "cached";

/** Of a service that makes each answer anew, so many times fewer requests are enough. */
const effortShares: Readonly<Record<string, number>> = {
  "gp-records, cold": 1 / 3,
  fastify: 1 / 16,
  postgraphile: 1 / 32,
};
const turns = 40;
const secondsMax = 600;

interface Side extends PeerFigure {
  start(): Promise<RunningServer & { databasePid?: number }>;
  /** Name under which the load client knows what it is asked. */
  requests: string;
  /** Share of the requests that are asked of the others. */
  share: number;
}

/** @throws Error where a peer does not answer as the program does. */
export async function measurePeers(
  fixtures: Fixtures,
  effort: Effort,
  tell: (what: string) => void,
): Promise<PeersMeasured> {
  const sides = await openSides(fixtures, tell);
  const { load, checkouts } = fixtures;
  const [own, rival] = [ownName, rivalName].map((wanted) =>
    sides.find(({ name }) => name === wanted)!,
  );
  let running: (RunningServer & { databasePid?: number })[] = [];
  const stopAll = async () => {
    const all = running;
    running = [];
    await Promise.all(all.map((server) => server.stop()));
  };
  const orderOf = (i: number, count: number, firstRequest: number) => {
    const { requests, share } = sides[i]!;
    return {
      port: running[i]!.port,
      requests,
      connections,
      count: Math.ceil(count * share),
      firstRequest: Math.ceil(firstRequest * share),
      secondsMax,
    };
  };
  /** Asks these sides in turn, and adds what it cost. */
  const measureTogether = async (group: readonly number[], round: number) => {
    await wait(writtenMilliseconds);
    const meters = await Promise.all(
      group.map((i) => openProcessorMeter(running[i]!, databaseOf(running[i]!))),
    );
    const orders = group.map((i) => orderOf(i, effort.perRound, round * effort.perRound));
    const results = await load.runInBursts({ orders, turns, isReversed: round % 2 === 1 });
    await wait(writtenMilliseconds);
    for (const [place, i] of group.entries()) {
      const { answered, bytes } = allServed(results[place]!);
      const side = sides[i]!;
      side.microseconds.push((await meters[place]!.microseconds()) / answered);
      side.megabytes.push(treeBytes([running[i]!.pid, ...databaseOf(running[i]!)]) / 1e6);
      side.bodyBytesMean = bytes / answered;
    }
  };
  const session: Session = {
    /** With new processes each time, as in cost.ts. */
    async round(round) {
      running = await Promise.all(sides.map(({ start }) => start()));
      for (const i of inOrderOf(round, [...sides.keys()]))
        allServed(await load.run(orderOf(i, effort.warmUp, 0)));
      // Those that take long come after the others: a turn of theirs leaves nothing of others' in the processor's caches.
      const isQuick = (i: number) => sides[i]!.share === 1;
      const all = [...sides.keys()];
      await measureTogether(all.filter(isQuick), round);
      await measureTogether(
        all.filter((i) => !isQuick(i)),
        round,
      );
      await stopAll();
      const value = own!.microseconds.at(-1)! / rival!.microseconds.at(-1)!;
      return [{ row: "peers", checkout: checkouts[0]!.name, value }];
    },
    note: () =>
      `${median(own!.microseconds).toFixed(1)} µs a request against ${median(rival!.microseconds).toFixed(1)}`,
    close: stopAll,
  };
  const rounds = effort.longRounds;
  const budget = {
    rounds,
    roundsMax: rounds * effort.roundsFactorMax,
    secondsMax: effort.secondsMax,
  };
  const [figure] = await measureRounds(
    session,
    budget,
    ([one]) => uncertainty(estimate(one!.values)) <= uncertaintyMax,
  );
  const peers = sides.map(({ name, title, microseconds, megabytes, bodyBytesMean }) => ({
    name,
    title,
    microseconds,
    megabytes,
    bodyBytesMean,
  }));
  return { figure: figure!, peers };
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
    share: effortShares[name] ?? 1,
    microseconds: [],
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
  ];
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
export function agree(
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
