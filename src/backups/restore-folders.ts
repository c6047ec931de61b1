/** Where a restore works within the data folder, and how what it decided is put in place, also after it was killed. */
import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { syncPath } from "#datasets/whole-file.ts";
import { takeLock, type Lock } from "#store/lock.ts";

/** A restore in the making; one left behind means nothing and goes with the next. */
export const draftFolder = ".restore-draft";
/** The same from the moment it is decided: from here on it is finished, whoever comes next. */
export const decidedFolder = ".restore";

/** Below both: what is to be put in place, and what it replaces under the name it is kept by. */
export const newFolder = "new";
const replacedName = /^replaced-/;
export const replacedFolder = (nowMilliseconds: number) =>
  `replaced-${new Date(nowMilliseconds).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;

/** All that is replaced, each whole. A restore brings every one of them, if only an empty one. */
export const restoredNames = ["control.sqlite", "usage.sqlite", "datasets", "counts"] as const;

/** An SQLite file and what belongs to it: beside another file it would be taken for that one's. */
const parts = ["-journal", "-wal", "-shm", ""];

/**
 * Whoever opens a data folder calls this first: a restore that was killed while it put its files in place is finished.
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

/** Nobody serves the folder and nobody imports into it while these are held. @throws StoreFault `busy`. */
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

/** Turns the draft into the folder that is finished in any case. The draft is whole and synced. */
export function decide(dataDir: string): void {
  renameSync(join(dataDir, draftFolder), join(dataDir, decidedFolder));
  syncPath(dataDir);
}

/**
 * Moves what is there aside and what was decided in its place. Ended at any point and begun again it comes to the same.
 * @returns where what was there is kept; null where there was nothing.
 */
export function putInPlace(dataDir: string): string | null {
  const decided = join(dataDir, decidedFolder);
  const kept = readdirSync(decided).find((name) => replacedName.test(name));
  for (const name of restoredNames) {
    const fresh = join(decided, newFolder, name);
    // Where it is gone it was moved, and what it replaced before it.
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
