/** Reads nothing but files, and writes them atomically, at once or piece by piece: whole or absent, even after a power failure. */
import { createHash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  readFileSync,
} from "node:fs";
import { dirname } from "node:path";

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

/** Names of files that `replaceFile` leaves behind if its process is killed. */
export const asideShape = /\.\d+\.tmp$/;

/** Writes a temporary file, syncs it, renames it and syncs the folder. */
export function replaceFile(path: string, text: string): void {
  const aside = `${path}.${process.pid}.tmp`;
  try {
    writeSynced(aside, text);
    renameSync(aside, path);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
  syncPath(dirname(path));
}

/** Writes a file and syncs it, so that it survives a power failure once its folder is synced, too. */
export function writeSynced(path: string, content: string | Uint8Array): void {
  const file = openSync(path, "w", 0o600);
  try {
    // Unlike `writeSync` it continues after a partial write, and fails if the disk is full.
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Syncs a file or a folder to the disk. Windows cannot sync a folder and need not. */
export function syncPath(path: string): void {
  const isFolder = statSync(path).isDirectory();
  if (isFolder && process.platform === "win32") return;
  const opened = openSync(path, isFolder ? "r" : "r+");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** A file that appears under its name only when it is complete. */
export interface OutputFile {
  /** Writes the bytes as they are now. They may change afterwards. */
  write(bytes: Uint8Array | string): void;
  /** Syncs the file and gives it its name, in place of any other file. */
  finish(): { bytes: number; sha256: string };
  /** Removes the unfinished file. */
  abandon(): void;
}

/** Opens a file. Until it is finished its name ends in `.tmp`. Overwrites a file that a killed process left there. */
export function openOutputFile(path: string): OutputFile {
  const unfinished = `${path}.tmp`;
  const file = openSync(unfinished, "w", 0o600);
  const hash = createHash("sha256");
  let bytes = 0;
  return {
    write(piece) {
      const written = typeof piece === "string" ? Buffer.from(piece) : piece;
      // Unlike `writeSync` it continues after a partial write, and fails if the disk is full.
      writeFileSync(file, written);
      hash.update(written);
      bytes += written.length;
    },
    finish() {
      fsyncSync(file);
      renameSync(unfinished, path);
      closeSync(file);
      return { bytes, sha256: hash.digest("hex") };
    },
    abandon() {
      closeSync(file);
      rmSync(unfinished, { force: true });
    },
  };
}
