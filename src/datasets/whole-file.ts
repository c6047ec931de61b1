/** Writes small files so that they are there whole or not at all, also when the power fails. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** What `replaceFile` leaves behind where its process was killed. */
export const asideShape = /\.\d+\.tmp$/;

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
  syncFolder(dirname(path));
}

export function writeSynced(path: string, text: string): void {
  const file = openSync(path, "w", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

export function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  fsyncSync(folder);
  closeSync(folder);
}
