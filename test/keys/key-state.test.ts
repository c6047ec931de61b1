import assert from "node:assert/strict";
import { test } from "node:test";
import { keyState } from "#keys/keys.ts";
import { day, noon } from "../support/control.ts";

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
