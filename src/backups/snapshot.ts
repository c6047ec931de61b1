/** Copies a database as it is at one moment, while others go on reading and writing it. */
import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { hashFile } from "#datasets/file-hash.ts";
import { schemaSteps, type StoreName } from "#store/schema-steps.ts";
import { sqliteFault } from "#store/sqlite-fault.ts";
import { BackupFault, roomFault } from "./backup-fault.ts";
import type { ManifestFile } from "./manifest.ts";

interface Snapshot extends ManifestFile {
  path: StoreName;
  steps: readonly string[];
  /** Where the copy is. */
  copy: string;
}

const busyMilliseconds = 5000;
/** All in one step, under one read lock: between two steps a busy writer would make it begin anew for ever. */
const pagesAtOnce = 2 ** 31 - 1;

/**
 * Null where there is no such database.
 * @param folder for the copy; only its owner may read it.
 * @throws BackupFault where the database is damaged or emptied, StoreFault where it cannot be read.
 */
export async function takeSnapshot(
  dataDir: string,
  name: StoreName,
  folder: string,
): Promise<Snapshot | null> {
  const file = join(dataDir, name);
  if (isMissing(file)) return null;
  const copy = join(folder, name);
  try {
    await copyDatabase(file, copy);
    return { path: name, copy, steps: checkedSteps(copy, file), ...hashFile(copy) };
  } catch (error) {
    throw sqliteFault(roomFault(error, copy), file);
  }
}

/** What a folder that is closed to this user holds is not missing, though `existsSync` says so. */
function isMissing(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** Opened for writing, so that the last one to close it leaves no files beside it; nothing is written. */
async function copyDatabase(file: string, copy: string): Promise<void> {
  closeSync(openSync(copy, "wx", 0o600));
  const database = new DatabaseSync(file, { timeout: busyMilliseconds });
  try {
    await backup(database, copy, { rate: pagesAtOnce });
  } finally {
    database.close();
  }
  chmodSync(copy, 0o600);
}

/** A database that is damaged or emptied must not take the place of an older backup that is sound. */
function checkedSteps(copy: string, file: string): string[] {
  const database = new DatabaseSync(copy);
  try {
    // In one file, without the side files that a write-ahead log needs.
    database.exec("pragma journal_mode = delete");
    const said = String(database.prepare("pragma quick_check(1)").get()!["quick_check"]);
    if (said !== "ok")
      throw new BackupFault(
        `${file} is damaged, so no backup was made: SQLite says ${said}. Restore it from an earlier one.`,
      );
    if (isEmptied(database, file))
      throw new BackupFault(
        `${file} is empty, so no backup was made. Restore it from an earlier one; on a folder that was never used, start the server first.`,
      );
    return schemaSteps(database);
  } finally {
    database.close();
  }
}

/** A file without a table is what is left of keys that were lost; one for usage may be about to be filled. */
const isEmptied = (database: DatabaseSync, file: string) =>
  basename(file) === "control.sqlite" &&
  database.prepare("select 1 from sqlite_schema limit 1").get() === undefined;
