/** Lowers the CPU priority and narrows the CPU affinity of long work, so that it does not slow down requests. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { constants, setPriority } from "node:os";

const { PRIORITY_BELOW_NORMAL } = constants.priority;

/** Lowers the CPU priority of every thread of the process. */
export function lowerProcessPriority(): void {
  for (const thread of threads()) lower(thread);
}

/** Lowers the CPU priority of the calling thread; changes nothing where threads have no priority of their own. */
export function lowerOwnPriority(): void {
  // On Linux 0 is the calling thread, elsewhere its process (setpriority(2)).
  if (process.platform === "linux") lower(0);
}

/** On Linux each thread has a priority of its own; elsewhere the process has one. */
function threads(): number[] {
  if (process.platform !== "linux") return [process.pid];
  return readdirSync("/proc/self/task").map(Number);
}

/** Where the system does not allow it, the priority stays as it is. */
function lower(thread: number): void {
  try {
    setPriority(thread, PRIORITY_BELOW_NORMAL);
  } catch {}
}

const tasksetMilliseconds = 1000;

/**
 * Removes the first core that the process may use from the CPU affinity of all its threads, and so leaves it to the
 * server: a thread that wakes up on a busy core waits for the end of a time slice there, which takes milliseconds however
 * low the priority of the other thread is. Changes nothing where there is a single core, or no `taskset` (Linux), which
 * Node needs for it.
 */
export function avoidFirstCore(): void {
  try {
    const [, ...others] = coresOf(readFileSync("/proc/self/status", "utf8"));
    if (others.length === 0) return;
    execFileSync("taskset", ["-a", "-c", "-p", others.join(","), String(process.pid)], {
      stdio: "ignore",
      timeout: tasksetMilliseconds,
    });
  } catch {
    // The affinity stays as it is.
  }
}

/** The cores that the process may use. @param status of /proc/PID/status, which lists them as `0-3,8`. */
export function coresOf(status: string): number[] {
  const [, list] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)!;
  return list!.split(",").flatMap((range) => {
    const [first, last = first] = range.split("-").map(Number);
    return Array.from({ length: last! - first! + 1 }, (_, i) => first! + i);
  });
}
