/** Writes small files atomically, so that even a power failure leaves them whole or absent. */
import {
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

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
