/** Do the system's limits allow files as large, and connections as many, as may be needed? */
import { readFileSync } from "node:fs";
import { bytesText, type Check, fail, faultsOr, type Finding, ok, warn } from "./check.ts";
import { largestDatasetBytes } from "./dataset-files.ts";
import { serverLock } from "./locks.ts";

/** A write-ahead log may reach this size. */
const fileBytesMin = 64 * 1024 ** 2;
/** The next dataset may be twice as large as the largest there is. */
const growthFactor = 2;
/** For databases, datasets, counts, the log, and connections that are being refused. */
const openFilesBesides = 100;

interface Needs {
  fileBytes: number;
  openFiles: number;
}

export const limits: Check = {
  name: "limits",
  look({ dataDir, config }) {
    const needs = {
      fileBytes: Math.max(fileBytesMin, growthFactor * largestDatasetBytes(dataDir)),
      openFiles: openFilesBesides + (config?.connectionsMax ?? 0),
    };
    const own = readProcessLimits("self");
    if (own === null) return [ok("cannot be told on this system")];
    const pid = serverLock(dataDir)?.holder?.pid;
    const running = pid === undefined ? null : readProcessLimits(pid);
    return faultsOr(
      [
        ...judgeLimits("programs started from here", own, needs),
        ...(running === null ? [] : judgeLimits(`the server, process ${pid},`, running, needs)),
      ],
      `${countText((running ?? own).openFiles)} open files and files of ${sizeText((running ?? own).fileBytes)} are allowed`,
    );
  },
};

/** @param who is limited, as the beginning of a sentence. */
export function judgeLimits(who: string, allowed: ProcessLimits, needs: Needs): Finding[] {
  const faults: Finding[] = [];
  if (allowed.fileBytes < needs.fileBytes)
    faults.push(
      fail(
        `${who} may write no file over ${bytesText(allowed.fileBytes)}, but may need one of ${bytesText(needs.fileBytes)}`,
        "Lift the limit: `ulimit -f unlimited`, or LimitFSIZE=infinity in the systemd unit; then start again.",
      ),
    );
  if (allowed.openFiles < needs.openFiles)
    faults.push(
      warn(
        `${who} may open ${allowed.openFiles} files, but ${needs.openFiles} may be needed`,
        `Raise the limit: \`ulimit -n ${needs.openFiles}\`, or LimitNOFILE=${needs.openFiles} in the systemd unit; or lower CONNECTIONS_MAX.`,
      ),
    );
  return faults;
}

const countText = (count: number) => (count === Number.POSITIVE_INFINITY ? "any number of" : count);
const sizeText = (bytes: number) =>
  bytes === Number.POSITIVE_INFINITY ? "any size" : `up to ${bytesText(bytes)}`;

/** The limits of a process; Linux only. */
interface ProcessLimits {
  /** Infinity where there is none. */
  fileBytes: number;
  openFiles: number;
}

/** Null where the process or its limits cannot be seen. */
function readProcessLimits(pid: number | "self"): ProcessLimits | null {
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

/** The columns are name, soft limit, hard limit and unit; the soft limit is the one in force. */
function softLimit(text: string, name: string): number {
  const [, value] = new RegExp(`^${name} +(\\S+)`, "m").exec(text) ?? [];
  return value === undefined || value === "unlimited" ? Number.POSITIVE_INFINITY : Number(value);
}
