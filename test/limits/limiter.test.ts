import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyTally } from "../support/limits-life.ts";
import { inMemory } from "../support/limits-restarts.ts";
import { runSchedules } from "../support/limits-schedule.ts";
import { temporaryFolder } from "../support/limits-world.ts";

test("in 300 random lives no window admits more than its quota and none refuses below it", async (t) => {
  const tally = emptyTally();
  await runSchedules({
    kind: inMemory,
    firstSeed: 1,
    schedules: 300,
    folder: temporaryFolder(t),
    tally,
  });
  t.diagnostic(`seeds 1 to 300: ${JSON.stringify(tally)}`);
  for (const [event, count] of Object.entries(tally))
    assert.ok(count > 100, `${event} happened only ${count} times`);
});
