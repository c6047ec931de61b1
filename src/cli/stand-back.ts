/** Leaves the processor to whoever wants it: an import has time, a server beside it has not. */
import { readdirSync } from "node:fs";
import { constants, setPriority } from "node:os";

const { PRIORITY_BELOW_NORMAL } = constants.priority;

/** From here on, for every thread of the process. A system that does not let us leaves things as they are. */
export function standBack(): void {
  for (const thread of threads())
    try {
      setPriority(thread, PRIORITY_BELOW_NORMAL);
    } catch {
      // Without it the import is only less polite.
    }
}

/** On Linux each has a priority of its own; elsewhere the process has one. */
function threads(): number[] {
  if (process.platform !== "linux") return [process.pid];
  return readdirSync("/proc/self/task").map(Number);
}
