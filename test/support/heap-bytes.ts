/** What this thread keeps in memory, once garbage has been collected. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as NodeJS.GCFunction;

/** Heap in use, in bytes. */
export function heapBytes(): number {
  collectGarbage({ type: "major", execution: "sync", flavor: "last-resort" });
  return process.memoryUsage().heapUsed;
}
