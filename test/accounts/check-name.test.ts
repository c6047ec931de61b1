import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanName } from "#accounts/accounts.ts";
import { makeId, randomText } from "#store/random-text.ts";

test("a name is kept trimmed and in one Unicode form", () => {
  assert.equal(cleanName("key", "  Cafe\u0301 \t"), "Caf\u00e9");
});

test("a name may have 100 characters, however many bytes they take, and no more", () => {
  assert.equal(cleanName("key", "𝒜".repeat(100)), "𝒜".repeat(100));
  assert.throws(() => cleanName("key", "a".repeat(101)), /name of the key must have at most 100/);
});

test("a name that is empty or would garble a terminal is refused", () => {
  assert.throws(() => cleanName("account", " \n "), /name of the account must not be empty/);
  for (const name of ["a\nb", "a\u001b[31mb", "a\u0000b", "a\u2028b", "a\ud800b", "a\u009bb"])
    assert.throws(() => cleanName("account", name), /control characters/, JSON.stringify(name));
});

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
