/** Lowers the CPU priority of long work, so that it slows requests down less. */
import { readdirSync } from "node:fs";
import { constants, setPriority } from "node:os";

const { PRIORITY_BELOW_NORMAL } = constants.priority;

/** Lowers the CPU priority of every thread of the process. */
export function lowerProcessPriority(): void {
  for (const thread of threads()) lower(thread);
}

/**
 * Lowers the CPU priority of the calling thread. Changes nothing except on Linux, where threads have their own
 * priority.
 */
export function lowerOwnPriority(): void {
  // 0 means the calling thread on Linux, its process elsewhere (setpriority(2)).
  if (process.platform === "linux") lower(0);
}

/** Returns the ids whose priority can be set: each thread on Linux, only the process elsewhere. */
function threads(): number[] {
  if (process.platform !== "linux") return [process.pid];
  return readdirSync("/proc/self/task").map(Number);
}

/** Lowers a priority. Leaves it unchanged if the system refuses. */
function lower(thread: number): void {
  try {
    setPriority(thread, PRIORITY_BELOW_NORMAL);
  } catch {}
}
