/** Sentences with gaps, and amounts as people round and say them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { amountWords, fill, roundAmount } from "#demo/text.ts";

test("an amount keeps three digits", () => {
  assert.equal(roundAmount(48_137_522), 48_100_000);
  assert.equal(roundAmount(999.6), 1000);
  assert.equal(roundAmount(1_995_000_000), 2_000_000_000);
  assert.equal(roundAmount(7), 7);
});

test("an amount is said in thousands, millions or billions", () => {
  assert.equal(amountWords(850_000), "$850,000");
  assert.equal(amountWords(48_000_000), "$48 million");
  assert.equal(amountWords(3_250_000), "$3.25 million");
  assert.equal(amountWords(1_200_000_000), "$1.2 billion");
});

const echo = (gap: string) => gap.toUpperCase();

test("each gap is filled where it stands, at the ends and side by side too", () => {
  assert.equal(fill("{gp} buys {project}", echo), "GP buys PROJECT");
  assert.equal(fill("{a}{b}, then {a}.", echo), "AB, then A.");
  assert.equal(fill("no gap", echo), "no gap");
});
