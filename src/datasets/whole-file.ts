/** Writes small files so that they are there whole or not at all, also when the power fails, and reads those that may be missing. */
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

/** What `replaceFile` leaves behind where its process was killed. */
export const asideShape = /\.\d+\.tmp$/;

/** @throws DatasetFault where there is something else than a file. */
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

/** Written aside, synced, renamed, the folder synced. */
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

export function writeSynced(path: string, text: string): void {
  const file = openSync(path, "w", 0o600);
  try {
    // Unlike `writeSync` it writes on where the system took a part only, and fails where there is no room for the rest.
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Brings a file to the disk, or what a folder lists. Windows has no way to sync a folder and needs none. */
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
