import assert from "node:assert/strict";
import { test } from "node:test";
import { getOrKeep } from "#search/get-or-compute.ts";

test("a bounded map computes a value once while it keeps it, and drops the oldest for a new one", () => {
  const map = new Map<string, string>();
  let computed = "";
  const ask = (key: string) =>
    getOrKeep(map, key, 2, () => {
      computed += key;
      return key;
    });
  for (const key of "abab") ask(key);
  assert.equal(computed, "ab");
  ask("c");
  assert.deepEqual([...map.keys()], ["b", "c"]);
  ask("b");
  assert.equal(computed, "abc");
});
