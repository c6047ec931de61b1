/** Takes 300 requests where a file may not grow that far, then one an hour later, and dies without closing. */
import { writeSync } from "node:fs";
import { access } from "node:fs/promises";
import { clockOf, hour, openLastingCounters, openWorld } from "./limits-world.ts";

const quotas = { minute: 1000, hour: 1000, day: 1000 };
const world = openWorld();
const onFault = (fault: Error | null) => writeSync(1, `${fault?.message ?? "well again"}\n`);
const counters = openLastingCounters({ dir: process.argv[2]!, clock: clockOf(world), onFault });
const takeOne = () => {
  const quotaStatus = counters.take(1, quotas);
  counters.commit();
  return quotaStatus;
};
for (let request = 0; request < 300; request++) takeOne();
// Long enough for a sync, which succeeds on a full disk and must not pass for a recovery.
for (let passed = 0; passed < 100; passed++) await access(import.meta.dirname);
world.now += hour;
const quotaStatus = takeOne();
writeSync(1, `${quotaStatus.windows.map(({ remaining }) => remaining).join(" ")}\n`);
process.kill(process.pid, "SIGKILL");
