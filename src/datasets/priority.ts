/** Leaves the processor to whoever wants it: a command has time, and so has a takeover; who asks meanwhile has not. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { constants, setPriority } from "node:os";

const { PRIORITY_BELOW_NORMAL } = constants.priority;

/** From here on, for every thread of the process. */
export function lowerProcessPriority(): void {
  for (const thread of threads()) lower(thread);
}

/** For the thread that calls it; where threads have no priority of their own nothing is changed. */
export function lowerOwnPriority(): void {
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

/** Leaves one core to the server beside a command: whoever wakes up on a core that is busy waits until a turn has ended there, for milliseconds, however low the priority of whose turn it is. */
const millisecondsMax = 1000;

/**
 * From here on, for every thread of the process, the first core that it may use is not used.
 * Nothing is changed where it may use one only, and where there is no `taskset` (Linux), which Node needs for it.
 */
export function leaveFirstCore(): void {
  try {
    const [, ...others] = coresOf(readFileSync("/proc/self/status", "utf8"));
    if (others.length === 0) return;
    execFileSync("taskset", ["-a", "-c", "-p", others.join(","), String(process.pid)], {
      stdio: "ignore",
      timeout: millisecondsMax,
    });
  } catch {
    // Only less polite.
  }
}

/** Those that the process may use. @param status /proc/PID/status, where they stand as `0-3,8`. */
export function coresOf(status: string): number[] {
  const [, list] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)!;
  return list!.split(",").flatMap((range) => {
    const [first, last = first] = range.split("-").map(Number);
    return Array.from({ length: last! - first! + 1 }, (_, i) => first! + i);
  });
}
