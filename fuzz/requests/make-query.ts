/** Query strings: valid ones, questions whose answer is known, and every way to get one wrong. */
import { chance, pick, whole, type Random } from "#demo/random.ts";
import type { ReferenceQuery } from "../../test/support/reference.ts";
import { pairOf, spoil, type Pair } from "./spoil-query.ts";
import { someText } from "./texts.ts";

export type OperationPath =
  | "/fetch-gp"
  | "/fetch-principals"
  | "/fetch-signals"
  | "/fetch-projects";

/** What follows the `?`. */
export function makeQuery(
  random: Random,
  path: OperationPath,
  questions: readonly ReferenceQuery[],
): string {
  if (chance(random, 0.45)) return questionText(random, questions, path);
  const pairs = validPairs(random, path);
  for (let left = whole(random, 0, 3); left > 0; left--) spoil(random, pairs);
  return joined(random, pairs);
}

/** A question to this operation whose answer the reference knows. */
function questionText(
  random: Random,
  questions: readonly ReferenceQuery[],
  path: OperationPath,
): string {
  const own = questions.filter(({ operation }) => `/${operation}` === path);
  const { operation: _, ...parameters } = pick(random, own);
  const pairs = Object.entries(parameters).flatMap(([name, value]) =>
    [value].flat().map((one) => pairOf(random, name, String(one))),
  );
  return joined(random, shuffled(random, pairs));
}

function validPairs(random: Random, path: OperationPath): Pair[] {
  const takesFacets = path === "/fetch-gp" || path === "/fetch-principals";
  const pairs: Pair[] = [];
  if (path === "/fetch-gp" ? chance(random, 0.9) : chance(random, 0.5))
    pairs.push(pairOf(random, "gp_name", someText(random)));
  for (const name of takesFacets ? ["tag", "theme", "market"] : [])
    if (chance(random, 0.2))
      for (let left = whole(random, 1, 3); left > 0; left--)
        pairs.push(pairOf(random, name, someText(random)));
  if (chance(random, 0.4)) pairs.push(`limit=${whole(random, 1, 100)}`);
  if (chance(random, 0.3))
    pairs.push(`offset=${whole(random, 0, chance(random, 0.8) ? 300 : 2147483647)}`);
  return shuffled(random, pairs);
}

function joined(random: Random, pairs: readonly Pair[]): string {
  const text = pairs.join("&");
  return chance(random, 0.03) ? `&&${text}&` : text;
}

function shuffled<T>(random: Random, list: readonly T[]): T[] {
  return list
    .map((thing) => ({ thing, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ thing }) => thing);
}
