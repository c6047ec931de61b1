import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyTally, inMemory, runSchedules } from "../support/limits-life.ts";
import { temporaryFolder } from "../support/limits-world.ts";

const firstSeed = Number(process.env["SEED"] ?? Date.now() % 1_000_000_000);

test("in 10,000 random lives no window admits more than its quota and none refuses below it", async (t) => {
  const tally = emptyTally();
  t.diagnostic(`SEED=${firstSeed}`);
  await runSchedules({
    kind: inMemory,
    firstSeed,
    schedules: 10_000,
    folder: temporaryFolder(t),
    tally,
  });
  t.diagnostic(JSON.stringify(tally));
  for (const [event, count] of Object.entries(tally))
    assert.ok(count > 5000, `${event} happened only ${count} times`);
});
