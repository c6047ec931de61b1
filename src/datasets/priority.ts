/** Lowers the CPU priority of long work, so that it slows requests down less. */
import { readdirSync } from "node:fs";
import { constants, setPriority } from "node:os";

const { PRIORITY_BELOW_NORMAL } = constants.priority;

/** Lowers the CPU priority of every thread of the process. Only on Linux does each thread have its own. */
export function lowerProcessPriority(): void {
  const isLinux = process.platform === "linux";
  for (const thread of isLinux ? readdirSync("/proc/self/task").map(Number) : [process.pid])
    lower(thread);
}

/** Lowers the CPU priority of the calling thread. Does nothing except on Linux, where each thread has its own. */
export function lowerOwnPriority(): void {
  // 0 means the calling thread on Linux, its process elsewhere (setpriority(2)).
  if (process.platform === "linux") lower(0);
}

/** Lowers a priority. Leaves it unchanged if the system refuses. */
function lower(thread: number): void {
  try {
    setPriority(thread, PRIORITY_BELOW_NORMAL);
  } catch {}
}
