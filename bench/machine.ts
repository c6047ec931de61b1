/** What the machine does to every process alike: cores that are wanted and not given. */
import { readFileSync } from "node:fs";

/** Hundredths of a second in which a virtual machine wanted a core and was not given it, "steal time" (proc(5)); 0 where nobody counts them. */
export function stealTicks(): number {
  const [, ...columns] = readFileSync("/proc/stat", "utf8").split("\n", 1)[0]!.split(/\s+/);
  return Number(columns[7] ?? 0);
}
