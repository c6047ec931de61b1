/** Tells files from other things in a folder, and reads only files. */
import { readFileSync, statSync } from "node:fs";

/**
 * Returns the kind of thing at a path, such as `a directory`. Returns null if there is a file, or nothing. Ask before
 * opening: opening a FIFO may wait for ever, and a device may be read without end.
 */
export function otherThanFile(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return null;
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a FIFO";
  return stats.isSocket() ? "a socket" : "a device";
}

/** @throws Error, without the path, if there is something other than a file. */
export function requirePlainFile(path: string): void {
  const other = otherThanFile(path);
  if (other !== null) throw new Error(`it is ${other}, not a file`);
}

/** Reads a file. @throws Error, without the path, if there is none or it cannot be read. */
export function readPlainFile(path: string): Buffer {
  requirePlainFile(path);
  return readFileSync(path);
}
