/**
 * Leaves one core to the server beside a command: whoever wakes up on a core that is busy waits until a turn has ended
 * there, for milliseconds, however low the priority of whose turn it is.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const millisecondsMax = 1000;

/**
 * From here on, for every thread of the process, the first core that it may use is not used.
 * Nothing is changed where it may use one only, and where there is no `taskset` (Linux), which Node needs for it.
 */
export function leaveCore(): void {
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
