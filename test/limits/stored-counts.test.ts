import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { systemClock } from "#limits/clocks.ts";
import { openStoredCounts } from "#limits/stored-counts.ts";
import { StoreFault } from "#store/domain-error.ts";
import { countingServers } from "../support/counting-servers.ts";

for (const { name, skip, start } of countingServers)
  suite(`counts stored in ${name}`, { skip }, () => {
    test("a server that stands still is given up, before and after it is connected to", async (t) => {
      const server = await start();
      // One that stands still would not end.
      t.after(() => (server.resume(), server.end()));
      const place = {
        dataDir: null,
        databaseUrl: server.url,
        countersUrl: name === "Redis" ? server.url : null,
        countersSetting: "COPY_COUNTERS_TO",
      } as const;
      const open = (patience: number) => openStoredCounts(place, systemClock(), () => {}, patience);
      const counts = await open(60_000);
      assert.deepEqual(await counts.read([1]), [{ account: 1, times: [] }]);
      await counts.close();
      const late = await open(2000);
      server.pause();
      for (const answer of [() => late.read([1]), () => open(50)])
        await assert.rejects(
          answer,
          (fault) => fault instanceof StoreFault && /^Counts: .+[.?]$/.test(fault.message),
        );
    });
  });
