import assert from "node:assert/strict";
import { test } from "node:test";
import { followHistories } from "./histories.ts";

const firstSeed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);

test("in 1,000 random histories a copy that applies each step is the new dataset, byte for byte", async (t) => {
  const all = await followHistories(t, firstSeed, 1000);
  assert.ok(Object.values(all).every((count) => count > 100));
});
