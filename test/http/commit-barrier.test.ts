import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { openHeldAnswers } from "#http/commit-barrier.ts";

test("what was counted in a turn is kept once, and before any of its answers leaves", async () => {
  const happened: string[] = [];
  const hold = openHeldAnswers(() => void happened.push("kept"));
  hold(() => happened.push("a"));
  hold(() => {
    happened.push("b");
    hold(() => happened.push("c"));
  });
  assert.deepEqual(happened, []);
  await setImmediate();
  assert.deepEqual(happened, ["kept", "a", "b"]);
  await setImmediate();
  assert.deepEqual(happened, ["kept", "a", "b", "kept", "c"]);
});
