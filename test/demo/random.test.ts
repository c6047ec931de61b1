/** Choices by chance: repeatable, within bounds, as often as their weights say. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  drawMore,
  gentlyFirst,
  headFirst,
  logNormal,
  pickEach,
  pickSome,
  startRandom,
  steeplyFirst,
  trimmed,
  weighted,
  weightedKeys,
  whole,
  type Random,
} from "#demo/random.ts";
import { assertBetween, tally } from "./measures.ts";

const draw = <T>(count: number, one: (random: Random) => T, seed = 1): T[] => {
  const random = startRandom(seed, "test");
  return Array.from({ length: count }, () => one(random));
};
const number = (random: Random) => random();
const ascending = (a: number, b: number) => a - b;

test("the same seed and purpose give the same numbers, others give others", () => {
  assert.deepEqual(draw(50, number), draw(50, number));
  assert.notDeepEqual(draw(50, number), draw(50, number, 2));
  assert.notEqual(startRandom(1, "gps")(), startRandom(1, "signals")());
});

test("numbers lie from 0 to below 1 and spread evenly", () => {
  const numbers = draw(100_000, number);
  assert.ok(numbers.every((one) => one >= 0 && one < 1));
  const tenths = tally(numbers.map((one) => Math.floor(one * 10)));
  for (let tenth = 0; tenth < 10; tenth++) assertBetween(tenths.get(tenth) ?? 0, 9500, 10_500);
});

test("a whole number reaches both bounds and nothing beyond", () => {
  assert.deepEqual(
    [...new Set(draw(500, (random) => whole(random, -1, 2)))].toSorted(ascending),
    [-1, 0, 1, 2],
  );
});

test("weights decide how often a value comes up", () => {
  const some = weighted([
    ["often", 8],
    ["seldom", 2],
    ["never", 0],
  ]);
  const counts = tally(draw(10_000, some));
  assertBetween(counts.get("often") ?? 0, 7800, 8200);
  assert.equal(counts.get("never"), undefined);
});

test("the keys of an object come up as often as their weights say", () => {
  const counts = tally(draw(10_000, weightedKeys({ often: 8, seldom: 2 })));
  assert.deepEqual([...counts.keys()].toSorted(), ["often", "seldom"]);
  assertBetween(counts.get("often") ?? 0, 7800, 8200);
});

test("drawing more keeps what is given and adds each value once, as often as asked at most", () => {
  const drawn = ["b", "a", "b", "c"];
  const next = () => drawn.shift() ?? "never drawn";
  assert.deepEqual(drawMore(["a"], 3, next), ["a", "b"]);
  assert.deepEqual(drawn, ["c"]);
  assert.deepEqual(drawMore(["a"], 0, next), ["a"]);
});

test("the head of a list weighs most", () => {
  const weights = headFirst(["a", "b", "c"], 0);
  assert.deepEqual(weights, [
    ["a", 1],
    ["b", 1 / 2],
    ["c", 1 / 3],
  ]);
});

test("several values are different, in their order, and never more than there are", () => {
  for (const count of [0, 1, 2, 5, 9])
    for (const some of draw(200, (random) => pickSome(random, [1, 2, 3, 4, 5], count))) {
      assert.equal(some.length, Math.min(count, 5));
      assert.deepEqual(some, [...new Set(some)].toSorted(ascending));
    }
});

test("each of several values has its own chance", () => {
  const lists = draw(10_000, (random) =>
    pickEach(random, [
      ["sure", 1],
      ["half", 0.5],
    ]),
  );
  assert.ok(lists.every(([first]) => first === "sure"));
  assertBetween(lists.filter((list) => list.length === 2).length, 4800, 5200);
});

test("skewed indices stay in the list and prefer its head, one more than the other", () => {
  for (const count of [1, 2, 1000]) {
    const gentle = draw(20_000, (random) => gentlyFirst(random, count));
    const steep = draw(20_000, (random) => steeplyFirst(random, count));
    for (const index of [...gentle, ...steep])
      assert.ok(Number.isInteger(index) && index >= 0 && index < count);
    if (count < 1000) continue;
    const first = (indices: number[]) => indices.filter((index) => index === 0).length;
    assert.ok(first(steep) > 2 * first(gentle));
    assert.ok(first(gentle) > 100);
  }
});

test("half of all log-normal values lie above the median", () => {
  const values = draw(10_000, (random) => logNormal(random, 100, 1));
  assertBetween(values.filter((value) => value > 100).length, 4800, 5200);
  assert.ok(values.every((value) => value > 0));
});

test("a trimmed list is another list of the same values", () => {
  const list = ["a", "b"];
  assert.deepEqual(trimmed(list), list);
  assert.notEqual(trimmed(list), list);
});
