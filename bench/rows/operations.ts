/** What each operation costs at ten times the records, with nothing cached: kind of question by kind of question. */
import { type Random, startRandom } from "#demo/random.ts";
import { fetches } from "#operations/fetches.ts";
import type { CanonicalGp } from "#records/canonical.ts";
import type { RecordKind } from "#records/kinds.ts";
import { ask as askOnce } from "../ask.ts";
import type { Checkout, Fixtures } from "../fixtures.ts";
import {
  beginning,
  misspelt,
  type NameChoice,
  oneWord,
  publicId,
  twoWords,
  wholeName,
} from "../mix.ts";
import { type Candidate, inTurn, openSession, type Session } from "../rounds.ts";
import type { RunningServer } from "../servers.ts";
import { median } from "../statistics.ts";
import { costCandidate, costSetups } from "./cost.ts";

/** Different questions of a kind, and how many are tried to find so many. */
const questionCount = 60;
const triedMax = 1200;
const limit = 20;
/** How often a kind is asked for one sample, and before the first. */
const repeats = 4;
const warmUpRepeats = 8;
const seed = 20261122;

type Ask = (random: Random, gp: CanonicalGp) => Record<string, string> | null;

const named =
  (choice: NameChoice): Ask =>
  (random, gp) => ({ gp_name: choice.of(random, gp) });

/** A part from inside a word. */
const inside: NameChoice = {
  of: (random, gp) => oneWord.of(random, gp).padEnd(5, "s").slice(1, 6),
  isBroad: true,
};

const carrying =
  (...parameters: readonly ("tag" | "theme" | "market")[]): Ask =>
  (random, gp) => {
    const carried = { tag: gp.tags ?? [], theme: gp.themes ?? [], market: gp.markets ?? [] };
    if (parameters.some((name) => carried[name].length === 0)) return null;
    return Object.fromEntries(parameters.map((name) => [name, random.pick(carried[name])]));
  };

const both =
  (one: Ask, other: Ask): Ask =>
  (random, gp) => {
    const [first, second] = [one(random, gp), other(random, gp)];
    return first === null || second === null ? null : { ...first, ...second };
  };

const byName: Readonly<Record<string, Ask>> = {
  "a name": named(wholeName),
  "two words": named(twoWords),
  "a word": named(oneWord),
  "a beginning": named(beginning),
  "a part of a word": named(inside),
  "a misspelt word": named(misspelt),
  "an id": named(publicId),
};
const byNameAndFacet: Readonly<Record<string, Ask>> = {
  "a word and a tag": both(named(oneWord), carrying("tag")),
  "a word and a market": both(named(oneWord), carrying("market")),
};
const byFacet: Readonly<Record<string, Ask>> = {
  "a tag": carrying("tag"),
  "a theme": carrying("theme"),
  "a market": carrying("market"),
  "a tag and a market": carrying("tag", "market"),
  "all three": carrying("tag", "theme", "market"),
};

const operations = Object.values(fetches);
const kindsOf: Readonly<Record<RecordKind, Readonly<Record<string, Ask>>>> = {
  gp: { ...byName, ...byNameAndFacet },
  principal: { ...byName, ...byNameAndFacet, ...byFacet },
  signal: byName,
  project: byName,
};

/** The questions of one kind, and what they cost at either size. */
interface Group {
  operation: string;
  kind: string;
  candidates: readonly [Candidate<number>, Candidate<number>];
  /** µs a request at either size, of all rounds. */
  costs: [number[], number[]];
}

export const openOperations = (fixtures: Fixtures): Promise<Session> =>
  openSession(fixtures.checkouts, async (checkout) => {
    const { gps } = await fixtures.records(1);
    const servers = [
      await startSize(fixtures, checkout, 1),
      await startSize(fixtures, checkout, 10),
    ] as const;
    const groups: Group[] = [];
    for (const { name, kind: record } of operations)
      for (const [kind, ask] of Object.entries(kindsOf[record])) {
        const targets = await questionsOf(servers, { operation: name, kind, ask, gps });
        const [small, large] = servers.map(({ server, key }, size) =>
          costCandidate(fixtures.load, server, {
            name: `${name} by ${kind} ${size}`,
            targets,
            key,
            connections: 8,
            count: questionCount * 2,
          }),
        ) as [Candidate<number>, Candidate<number>];
        groups.push({ operation: name, kind, candidates: [small, large], costs: [[], []] });
      }
    // The first requests are for V8, and fill what a server keeps of common words.
    for (const { candidates } of groups) await inTurn(warmUpRepeats, candidates);
    return {
      async sample() {
        const sums = new Map<string, [number, number]>();
        for (const { operation, candidates, costs } of groups) {
          const figures = [...(await inTurn(repeats, candidates)).values()].map(median);
          const sum = sums.get(operation) ?? [0, 0];
          for (const size of [0, 1] as const) {
            costs[size].push(figures[size]!);
            sum[size] += figures[size]!;
          }
          sums.set(operation, sum);
        }
        return {
          "operations-650k": Math.max(...sums.values().map(([small, large]) => large / small)),
        };
      },
      note: () => noteOf(groups),
      async close() {
        for (const { server } of servers) await server.stop();
      },
    };
  });

/** Each operation on average over its kinds of question, and the kind that grows most. */
function noteOf(groups: readonly Group[]): string {
  const costOf = (all: readonly Group[], size: 0 | 1) =>
    all.reduce((sum, { costs }) => sum + median(costs[size]), 0) / all.length;
  const ratioOf = (...all: readonly Group[]) => costOf(all, 1) / costOf(all, 0);
  const each = operations.map(({ name }) => {
    const own = groups.filter(({ operation }) => operation === name);
    return `${name} ${costOf(own, 0).toFixed(0)} → ${costOf(own, 1).toFixed(0)} µs, ${ratioOf(...own).toFixed(2)}×`;
  });
  const worst = groups.toSorted((a, b) => ratioOf(b) - ratioOf(a)).slice(0, 3);
  const kinds = worst.map((one) => `${one.operation} by ${one.kind} ${ratioOf(one).toFixed(2)}×`);
  return `${each.join("; ")}; the kinds that grow most: ${kinds.join(", ")}`;
}

interface Sized {
  server: RunningServer;
  key: string;
}

async function startSize(fixtures: Fixtures, checkout: Checkout, factor: number): Promise<Sized> {
  const published = await fixtures.published(checkout, factor);
  const dataDir = fixtures.serverFolder(published);
  const { settings } = costSetups.cold;
  return { server: await fixtures.start(checkout, { dataDir, settings }), key: published.keys[0]! };
}

interface KindOfQuestion {
  operation: string;
  kind: string;
  ask: Ask;
  gps: readonly CanonicalGp[];
}

/** Only such as are answered with as many records at both sizes: it is no fault of a search that it finds more. */
async function questionsOf(
  servers: readonly Sized[],
  { operation, kind, ask, gps }: KindOfQuestion,
): Promise<string[]> {
  const random = startRandom(seed, `${operation} ${kind}`);
  const targets = new Set<string>();
  for (let tried = 0; targets.size < questionCount && tried < triedMax; tried++) {
    const parameters = ask(random, random.pick(gps));
    if (parameters === null) continue;
    const query = new URLSearchParams({ ...parameters, limit: String(limit) });
    const target = `/${operation}?${query.toString()}`;
    const totals: number[] = [];
    for (const { server, key } of servers) {
      const { headers } = await askOnce({ port: server.port, path: target, key });
      totals.push(Number(headers["x-total-count"]));
    }
    if (totals.some((total) => total !== totals[0] && total < limit)) continue;
    const hasMore = totals.every((total) => total >= 2 * limit);
    targets.add(hasMore && random.chance(0.25) ? `${target}&offset=${limit}` : target);
  }
  if (targets.size === 0)
    throw new Error(`No question to ${operation} by ${kind} finds as many at both sizes.`);
  return [...targets];
}
