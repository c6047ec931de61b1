/** The limits the system sets a process; Linux only. */
import { readFileSync } from "node:fs";

export interface ProcessLimits {
  /** Infinity where there is none. */
  fileBytes: number;
  openFiles: number;
}

/** Null where the process or its limits cannot be seen. */
export function readProcessLimits(pid: number | "self"): ProcessLimits | null {
  try {
    const text = readFileSync(`/proc/${pid}/limits`, "utf8");
    return {
      fileBytes: softLimit(text, "Max file size"),
      openFiles: softLimit(text, "Max open files"),
    };
  } catch {
    return null;
  }
}

/** The columns are name, soft limit, hard limit and unit; the soft one holds. */
function softLimit(text: string, name: string): number {
  const [, value] = new RegExp(`^${name} +(\\S+)`, "m").exec(text) ?? [];
  return value === undefined || value === "unlimited" ? Number.POSITIVE_INFINITY : Number(value);
}
