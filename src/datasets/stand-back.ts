/** Leaves the processor to whoever wants it: a command has time, and so has a takeover; who asks meanwhile has not. */
import { readdirSync } from "node:fs";
import { constants, setPriority } from "node:os";

const { PRIORITY_BELOW_NORMAL } = constants.priority;

/** From here on, for every thread of the process. */
export function standBack(): void {
  for (const thread of threads()) lower(thread);
}

/** For the thread that calls it; where threads have no priority of their own nothing is changed. */
export function standBackAlone(): void {
  // To Linux 0 is the calling thread, elsewhere its process (setpriority(2)).
  if (process.platform === "linux") lower(0);
}

/** On Linux each has a priority of its own; elsewhere the process has one. */
function threads(): number[] {
  if (process.platform !== "linux") return [process.pid];
  return readdirSync("/proc/self/task").map(Number);
}

/** A system that does not let us leaves things as they are: only less polite. */
function lower(thread: number): void {
  try {
    setPriority(thread, PRIORITY_BELOW_NORMAL);
  } catch {}
}
