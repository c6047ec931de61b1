/** Where in the data folder a restore works, and how a restore that was decided is completed, even after its process was killed. */
import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { syncPath } from "#store/whole-file.ts";
import { takeLock, type Lock } from "#store/lock.ts";

/** A restore that is being prepared; one that was left behind means nothing, and the next restore removes it. */
export const draftFolder = ".restore-draft";
/** The same from the moment it is decided: from then on it is completed, by whoever opens the folder next. */
export const decidedFolder = ".restore";

/** In both folders: what is to be put in place, and beside it what it replaces, under the name by which that is kept. */
export const newFolder = "new";
const replacedName = /^replaced-/;
export const replacedFolder = (nowMilliseconds: number) =>
  `replaced-${new Date(nowMilliseconds).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;

/** All that is replaced, each as a whole. A restore brings each of them, even if empty. */
export const restoredNames = ["control.sqlite", "usage.sqlite", "datasets", "counts"] as const;

/** An SQLite file and the files that belong to it, which SQLite would apply to any database file beside them. */
const parts = ["-journal", "-wal", "-shm", ""];

/**
 * Completes a restore that was killed while it put its files in place; to be called before a data folder is opened.
 * @throws StoreFault `busy` while a restore runs.
 */
export function finishRestore(dataDir: string): void {
  if (!existsSync(join(dataDir, decidedFolder))) return;
  const locks = takeBothLocks(dataDir);
  try {
    putInPlace(dataDir);
  } finally {
    for (const lock of locks) lock.release();
  }
}

/** While they are held, nobody serves the folder or imports into it. @throws StoreFault `busy`. */
export function takeBothLocks(dataDir: string): Lock[] {
  const server = takeLock(
    join(dataDir, "server.lock"),
    `A server or a restore is running on ${dataDir}. Stop the server, or wait for the restore, and try again.`,
  );
  try {
    const busy = `An import is running on ${dataDir}. Try again when it has ended.`;
    return [server, takeLock(join(dataDir, "import.lock"), busy)];
  } catch (error) {
    server.release();
    throw error;
  }
}

/** Turns the draft, which is complete and synced, into the restore that is completed in any case. */
export function decide(dataDir: string): void {
  renameSync(join(dataDir, draftFolder), join(dataDir, decidedFolder));
  syncPath(dataDir);
}

/**
 * Moves what is there aside and what was decided into its place. Interrupted at any point, it can be run again.
 * @returns where what was there is kept; null if nothing was there.
 */
export function putInPlace(dataDir: string): string | null {
  const decided = join(dataDir, decidedFolder);
  const kept = readdirSync(decided).find((name) => replacedName.test(name));
  for (const name of restoredNames) {
    const fresh = join(decided, newFolder, name);
    // If it is gone, it was moved already, and what it replaced before that.
    if (!existsSync(fresh)) continue;
    for (const part of parts) {
      const old = name + part;
      moveIfThere(join(dataDir, old), join(decided, kept!, old));
    }
    renameSync(fresh, join(dataDir, name));
  }
  syncPath(dataDir);
  return tidyUp(dataDir, decided, kept);
}

function moveIfThere(from: string, to: string): void {
  if (existsSync(from)) renameSync(from, to);
}

function tidyUp(dataDir: string, decided: string, kept: string | undefined): string | null {
  const hasReplaced = kept !== undefined && readdirSync(join(decided, kept)).length > 0;
  if (hasReplaced) renameSync(join(decided, kept), join(dataDir, kept));
  rmSync(decided, { recursive: true });
  syncPath(dataDir);
  return hasReplaced ? join(dataDir, kept) : null;
}
