/** Choices by chance: repeatable, within bounds, as often as their weights say. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  drawMore,
  logNormal,
  pickEarly,
  pickEach,
  pickSome,
  startRandom,
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

test("several values are different, and never more than there are", () => {
  for (const count of [0, 1, 2, 5, 9])
    for (const some of draw(200, (random) => pickSome(random, [1, 2, 3, 4, 5], count))) {
      assert.ok(some.length <= Math.min(count, 5));
      assert.equal(new Set(some).size, some.length);
    }
});

test("each of several values has its own chance", () => {
  const lists = draw(10_000, (random) => pickEach(random, { sure: 1, half: 0.5 }));
  assert.ok(lists.every(([first]) => first === "sure"));
  assertBetween(lists.filter((list) => list.length === 2).length, 4800, 5200);
});

test("a skewed pick prefers the head of the list, the more the greater its power", () => {
  for (const count of [1, 2, 1000]) {
    const list = Array.from({ length: count }, (_, at) => at);
    const gentle = draw(20_000, (random) => pickEarly(random, list));
    const steep = draw(20_000, (random) => pickEarly(random, list, 4));
    for (const one of [...gentle, ...steep]) assert.ok(one < count);
    if (count < 1000) continue;
    const first = (picked: number[]) => picked.filter((one) => one === 0).length;
    assert.ok(first(steep) > 2 * first(gentle));
    assert.ok(first(gentle) > 100);
  }
});

test("half of all log-normal values lie above the median", () => {
  const values = draw(10_000, (random) => logNormal(random, 100, 1));
  assertBetween(values.filter((value) => value > 100).length, 4800, 5200);
  assert.ok(values.every((value) => value > 0));
});
