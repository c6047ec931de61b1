/** Takes requests of account 1 until it is killed, and says after each how many it was given. */
import { writeSync } from "node:fs";
import { openMemoryCounters, systemClock } from "#limits/index.ts";

const quotas = { minute: 1_000_000, hour: 1_000_000, day: 1_000_000 };
const onFault = (fault: Error | null) => {
  throw fault ?? new Error("nothing had failed");
};
const counters = openMemoryCounters({ dir: process.argv[2]!, clock: systemClock(), onFault });
for (let admitted = 0; counters.take(1, quotas).admitted;) writeSync(1, `${++admitted}\n`);
