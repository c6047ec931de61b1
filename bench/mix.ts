/** The questions of every run: 2,000 distinct ones over the four operations, asked as often as Zipf says, from a seed. */
import { mintId } from "#datasets/draft-record.ts";
import { type Random, startRandom, weighted } from "#demo/random.ts";
import type { CanonicalGp } from "#records/canonical.ts";

/** Under which name the records are imported; public ids are made from it. */
export const benchSource = "bench";

export interface Mix {
  /** Paths with their query, each once; the first is asked most. */
  targets: string[];
  /** Places in `targets`, in the order they are asked. */
  order: number[];
}

const targetCount = 2000;
const orderLength = 20_000;
const seed = 20261121;

/** Asks of the first GPs, which are the same however many there are. */
export function makeMix(gps: readonly CanonicalGp[]): Mix {
  const random = startRandom(seed, "targets");
  const targets = new Set<string>();
  while (targets.size < targetCount) targets.add(makeTarget(random, random.pick(gps)));
  const place = zipf(targetCount);
  const draw = startRandom(seed, "order");
  return {
    targets: [...targets],
    order: Array.from({ length: orderLength }, () => place(draw.next())),
  };
}

const operationOf = weighted([
  ["fetch-gp", 40],
  ["fetch-principals", 20],
  ["fetch-signals", 20],
  ["fetch-projects", 20],
] as const);

function makeTarget(random: Random, gp: CanonicalGp): string {
  const operation = operationOf(random);
  const query = new URLSearchParams();
  const name = operation === "fetch-gp" || random.chance(0.9) ? nameOf(random) : undefined;
  if (name !== undefined) query.append("gp_name", name.of(random, gp));
  if ((operation === "fetch-gp" || operation === "fetch-principals") && random.chance(0.25))
    addFilter(random, gp, query);
  query.append("limit", "20");
  // Nobody turns the pages of an answer that has one.
  if ((name === undefined || name.isBroad) && random.chance(0.3))
    query.append("offset", String(20 * random.whole(1, 4)));
  return `/${operation}?${query.toString()}`;
}

/** A way to ask by name. */
export interface NameChoice {
  of(random: Random, gp: CanonicalGp): string;
  /** Does it find many? */
  isBroad: boolean;
}

/** Words that may be searched for alone. */
function wordsOf({ name }: CanonicalGp): string[] {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length >= 2);
  return words.length > 0 ? words : [name];
}
const wordOf = (random: Random, gp: CanonicalGp) => random.pick(wordsOf(gp));

export const wholeName: NameChoice = { of: (_, { name }) => name, isBroad: false };
export const twoWords: NameChoice = {
  of: (_, gp) => wordsOf(gp).slice(0, 2).join(" "),
  isBroad: false,
};
export const oneWord: NameChoice = { of: wordOf, isBroad: true };
/** As somebody types it. */
export const beginning: NameChoice = {
  of: (random, gp) => wordOf(random, gp).slice(0, random.whole(2, 4)),
  isBroad: true,
};
export const publicId: NameChoice = {
  of: (_, { id }) => mintId("gp", benchSource, id),
  isBroad: false,
};
export const misspelt: NameChoice = {
  of: (random, gp) => `${wordOf(random, gp)}qz`,
  isBroad: false,
};

const nameOf = weighted<NameChoice>([
  [wholeName, 30],
  [twoWords, 15],
  [oneWord, 20],
  [beginning, 25],
  [publicId, 5],
  [misspelt, 5],
]);

function addFilter(random: Random, gp: CanonicalGp, query: URLSearchParams): void {
  const carried = [
    ["tag", gp.tags ?? []],
    ["theme", gp.themes ?? []],
    ["market", gp.markets ?? []],
  ] as const;
  const [name, values] = random.pick(carried);
  if (values.length > 0) query.append(name, random.pick(values));
}

/** From a number below 1 to a place below `count`; place i comes up 1/(i + 1) as often as the first. */
function zipf(count: number): (share: number) => number {
  const bounds = new Float64Array(count);
  let total = 0;
  for (let i = 0; i < count; i++) bounds[i] = total += 1 / (i + 1);
  return (share) => {
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (bounds[middle]! > share * total) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
