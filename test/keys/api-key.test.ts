import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { digestKey, keyPattern, makeKey, readKey } from "#keys/api-key.ts";
import { keyState } from "#keys/keys.ts";
import { maskKeys } from "#problems.ts";
import { day, noon } from "../support/control.ts";

const documented = "gpr_R7mQ2xVb9TzK4pWn8LsJ3hYd6FgC1a2kDPFA";
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

test("a new key is 40 characters of the published pattern, another one each time", () => {
  const keys = Array.from({ length: 1000 }, makeKey);
  for (const key of keys) {
    assert.equal(key.length, 40);
    assert.match(key, keyPattern);
    assert.ok("digest" in readKey(key), key);
  }
  assert.equal(new Set(keys).size, keys.length);
});

test("the check is the CRC-32 of all before it in base 62, zeros in front included", () => {
  let withZeros = 0;
  for (let count = 0; count < 20_000 && withZeros < 10; count++) {
    const key = makeKey();
    const value = Array.from(key.slice(34)).reduce(
      (sum, digit) => sum * 62 + digits.indexOf(digit),
      0,
    );
    assert.equal(value, crc32(key.slice(0, 34)), key);
    if (key.slice(34).startsWith("00")) withZeros += 1;
  }
  assert.equal(withZeros, 10);
});

test("a key with any one character mistyped is told from a key before a store is asked", () => {
  for (let place = 4; place < documented.length; place++) {
    const other = documented[place] === "x" ? "y" : "x";
    const mistyped = documented.slice(0, place) + other + documented.slice(place + 1);
    assert.deepEqual(readKey(mistyped), { fault: "checksum" }, mistyped);
  }
});

test("a key is looked up by the SHA-256 of its whole text, as it is stored", () => {
  const sha256 = createHash("sha256").update(documented).digest();
  assert.deepEqual(Buffer.from(digestKey(documented)), sha256);
  assert.deepEqual(readKey(documented), { digest: sha256.toBase64() });
});

test("nothing that could be a key, or most of one, outlives masking", () => {
  const shown = "gpr_R7mQ…";
  const cases = [
    [documented, shown],
    [`key=${documented}&limit=5`, `key=${shown}&limit=5`],
    [`x${documented}`, `x${shown}`],
    [`${documented}${documented}`, shown],
    [`${documented}_and_more`, shown],
    [`${documented}tail`, shown],
    [documented.slice(0, -1) + "B", shown],
    [documented.slice(0, 30), shown],
    [documented.toUpperCase(), "GPR_R7MQ…"],
    [`one ${documented} two ${documented}.`, `one ${shown} two ${shown}.`],
  ] as const;
  for (const [text, masked] of cases) assert.equal(maskKeys(text), masked);
});

test("masking leaves other text as it is", () => {
  for (const text of ["gpr_", "gpr_hint", "a gp_0123456789abcdef, a key_0123456789abcdef", "größe"])
    assert.equal(maskKeys(text), text);
});

const at = (time: number) => new Date(time).toISOString();
const facts = { expires_at: null, revoked_at: null, suspended_at: null };

test("a key is active until 14 days before its end, then expiring, and expired from that very moment", () => {
  const stateAt = (now: number) => keyState({ ...facts, expires_at: at(noon) }, now);
  assert.equal(stateAt(noon - 14 * day - 1), "active");
  assert.equal(stateAt(noon - 14 * day), "expiring");
  assert.equal(stateAt(noon - 1), "expiring");
  assert.equal(stateAt(noon), "expired");
  assert.equal(keyState(facts, noon), "active");
});

test("of several states the one shown is the one that cannot be undone", () => {
  const all = { expires_at: at(noon), revoked_at: at(noon), suspended_at: at(noon) };
  assert.equal(keyState(all, noon), "revoked");
  assert.equal(keyState({ ...all, revoked_at: null }, noon), "expired");
  assert.equal(keyState({ ...all, revoked_at: null }, noon - 1), "suspended");
});
