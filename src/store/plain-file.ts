/** Tells files from what only looks like one in a folder, and reads those alone. */
import { readFileSync, statSync } from "node:fs";

/**
 * What is at a path instead of a file, such as `a directory`; null where there is a file, or nothing. Ask before opening:
 * opening a FIFO may wait for ever, and a device may be read without end.
 */
export function otherThanFile(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return null;
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a FIFO";
  return stats.isSocket() ? "a socket" : "a device";
}

/** @throws Error that does not name the path, where there is something else than a file. */
export function requirePlainFile(path: string): void {
  const other = otherThanFile(path);
  if (other !== null) throw new Error(`it is ${other}, not a file`);
}

/** @throws Error that does not name the path where there is no file, or it cannot be read. */
export function readPlainFile(path: string): Buffer {
  requirePlainFile(path);
  return readFileSync(path);
}
