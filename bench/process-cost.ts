/** What a process costs: the processor time and the memory it has taken. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { askInside } from "./ask-inside.ts";
import type { RunningServer } from "./servers.ts";

/** Can processes be seen from outside? Elsewhere each server is asked itself. */
export const hasProc = existsSync("/proc/self/task");

/**
 * Processor time of all threads so far, in µs. The first number of a `schedstat` is in nanoseconds (Linux,
 * Documentation/scheduler/sched-stats.rst), where `stat` counts ticks of 10 ms.
 */
export async function processorMicroseconds(server: RunningServer): Promise<number> {
  if (!hasProc) return askInside<number>(server, "processor");
  let nanoseconds = 0;
  const threads = `/proc/${server.pid}/task`;
  for (const thread of readdirSync(threads)) nanoseconds += runTime(`${threads}/${thread}`);
  return nanoseconds / 1000;
}

/** A thread may end while we look. */
function runTime(thread: string): number {
  try {
    return Number(readFileSync(`${thread}/schedstat`, "latin1").split(" ")[0]);
  } catch {
    return 0;
  }
}

export async function residentBytes(server: RunningServer): Promise<number> {
  if (!hasProc) return askInside<number>(server, "memory");
  return statusBytes(server, "VmRSS");
}

/** A size from `/proc/PID/status`, by its name there. */
export function statusBytes({ pid }: RunningServer, name: "VmRSS" | "RssFile"): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
}

/** Processor time of all children that have ended, in seconds; NaN where it is not known. */
export function endedChildrenSeconds(): number {
  if (!hasProc) return Number.NaN;
  const stat = readFileSync("/proc/self/stat", "latin1");
  // After the name, which may hold anything; proc_pid_stat(5) counts it as the second field.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticksPerSecond = 100;
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
}
