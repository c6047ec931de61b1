import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanName } from "#accounts/accounts.ts";

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
