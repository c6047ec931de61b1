/** Lowers the CPU priority of long work, so that it slows down requests less. */
import { readdirSync } from "node:fs";
import { constants, setPriority } from "node:os";

const { PRIORITY_BELOW_NORMAL } = constants.priority;

/** Lowers the CPU priority of every thread of the process. */
export function lowerProcessPriority(): void {
  for (const thread of threads()) lower(thread);
}

/** Lowers the CPU priority of the calling thread. Changes nothing if threads have no priority of their own. */
export function lowerOwnPriority(): void {
  // On Linux 0 is the calling thread, elsewhere its process (setpriority(2)).
  if (process.platform === "linux") lower(0);
}

/** Returns the ids that have a priority: on Linux each thread, elsewhere the process. */
function threads(): number[] {
  if (process.platform !== "linux") return [process.pid];
  return readdirSync("/proc/self/task").map(Number);
}

/** Lowers a priority. Leaves it as it is if the system refuses. */
function lower(thread: number): void {
  try {
    setPriority(thread, PRIORITY_BELOW_NORMAL);
  } catch {}
}
