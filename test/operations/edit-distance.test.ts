import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest } from "#operations/edit-distance.ts";

const words: readonly (readonly [
  word: string,
  among: readonly string[],
  found: string | undefined,
])[] = [
  ["limit", ["limit"], "limit"],
  ["limt", ["offset", "limit"], "limit"],
  ["xyc", ["abc"], "abc"],
  ["axy", ["abc"], "abc"],
  ["xyz", ["abc"], undefined],
  ["li", ["limit"], undefined],
  ["axbyc", ["abz"], undefined],
  ["abz", ["axbyc"], undefined],
  ["tags", ["tax", "tag"], "tag"],
  ["bag", ["tag", "bad"], "tag"],
  ["", ["a"], "a"],
];
test("the nearest word is the first within the fewest of at most two edits", () => {
  for (const [word, among, found] of words) assert.equal(nearest(word, among), found, word);
});
