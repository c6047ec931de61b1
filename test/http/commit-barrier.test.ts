import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { openCommitBarrier } from "#http/commit-barrier.ts";

test("what was counted in a turn is kept once, and before any of its answers leaves", async () => {
  const happened: string[] = [];
  const afterCommit = openCommitBarrier(() => void happened.push("kept"));
  afterCommit(() => happened.push("a"));
  afterCommit(() => {
    happened.push("b");
    afterCommit(() => happened.push("c"));
  });
  assert.deepEqual(happened, []);
  await setImmediate();
  assert.deepEqual(happened, ["kept", "a", "b"]);
  await setImmediate();
  assert.deepEqual(happened, ["kept", "a", "b", "kept", "c"]);
});
