/** Writes small files atomically, so that even a power failure leaves them whole or absent, and reads them. */
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatasetFault, otherThanFile } from "./dataset-fault.ts";

/** What `replaceFile` leaves behind when its process is killed. */
export const asideShape = /\.\d+\.tmp$/;

/** Null where it is not there. @throws DatasetFault where there is something else than a file. */
export function readIfThere(path: string): string | null {
  const other = otherThanFile(path);
  if (other !== null)
    throw new DatasetFault(
      `${path} is ${other}, not a file. Move it away, then run 'gp-records doctor', which says what to do without it.`,
    );
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

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

export function writeSynced(path: string, content: string | Uint8Array): void {
  const file = openSync(path, "w", 0o600);
  try {
    // Unlike `writeSync` it continues after a partial write, and fails where the disk is full.
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
