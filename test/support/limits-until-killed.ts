/** Takes requests of account 1 until it is killed, and says how many it was given whenever some are kept. */
import { writeSync } from "node:fs";
import { systemClock } from "#limits/clocks.ts";
import { openMemoryCounters } from "#limits/memory-counters.ts";

const quotas = { minute: 1_000_000, hour: 1_000_000, day: 1_000_000 };
const groupSize = Number(process.argv[3]);
const onFault = (fault: Error | null) => {
  throw fault ?? new Error("nothing had failed");
};
const counters = openMemoryCounters({ dir: process.argv[2]!, clock: systemClock(), onFault });
// In small groups, as requests of one turn of the event loop.
for (let admitted = 0; counters.take(1, quotas).admitted;) {
  if (++admitted % groupSize !== 0) continue;
  counters.commit();
  writeSync(1, `${admitted}\n`);
}
