import assert from "node:assert/strict";
import { test } from "node:test";
import { countingServers } from "../support/counting-servers.ts";
import { inMemory, runLives } from "../support/limits-life.ts";
import { sharedOn } from "../support/limits-shared.ts";

const firstSeed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);

for (const { name, skip, start } of countingServers)
  test(
    `in 1,000 random lives of two instances no window in ${name} admits more than its quota and none refuses below it`,
    { skip },
    async (t) => {
      const server = await start();
      t.after(() => server.end());
      const tally = await runLives(t, sharedOn(server), 1000, firstSeed);
      for (const count of [tally.admitted, tally.refused, tally.retriesOnTheSecond, tally.restarts])
        assert.ok(count > 1000, JSON.stringify(tally));
    },
  );

test("in 10,000 random lives no window admits more than its quota and none refuses below it", async (t) => {
  const tally = await runLives(t, inMemory, 10_000, firstSeed);
  for (const [event, count] of Object.entries(tally))
    assert.ok(count > 5000, `${event} happened only ${count} times`);
});
