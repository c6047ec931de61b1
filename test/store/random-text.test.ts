import assert from "node:assert/strict";
import { test } from "node:test";
import { makeId, randomText } from "#store/random-text.ts";

test("an id is its prefix and 16 characters of [0-9a-z], another one each time", () => {
  const ids = Array.from({ length: 1000 }, () => makeId("ac"));
  for (const id of ids) assert.match(id, /^ac_[0-9a-z]{16}$/);
  assert.equal(new Set(ids).size, ids.length);
});

test("every character of the alphabet is equally likely", () => {
  const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const expected = 4000;
  const counts = new Map<string, number>();
  for (const character of randomText(alphabet, expected * alphabet.length))
    counts.set(character, (counts.get(character) ?? 0) + 1);
  assert.equal(counts.size, alphabet.length);
  // The remainder of a byte would give the first 8 characters 21 % more; 10 % is over six standard deviations.
  for (const [character, count] of counts)
    assert.ok(Math.abs(count - expected) < expected * 0.1, `${character}: ${count}`);
});
