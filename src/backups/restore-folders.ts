/** Folders for making and restoring backups, and the completion of a restore that was killed after its commit. */
import { existsSync, readdirSync, renameSync, rmSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { takeLock } from "#store/lock.ts";
import { syncPath } from "#store/whole-file.ts";

/** Name of the folder in which a restore is prepared. A leftover means nothing; the next restore removes it. */
export const draftFolder = ".restore-draft";
/**
 * Name of the folder once the restore is committed. A restore that is killed later is completed by the next process
 * that opens the data folder.
 */
export const decidedFolder = ".restore";

/** Subfolder for new files. A `replaced-` folder beside it receives the old ones, then moves into the data folder. */
export const newFolder = "new";
const replacedName = /^replaced-/;
/** Returns an unused name for the folder of the old data. Two restores may happen in the same second. */
export function replacedFolder(dataDir: string, nowMilliseconds: number): string {
  const time = new Date(nowMilliseconds).toISOString().slice(0, 19).replaceAll(/[-:]/g, "");
  const name = `replaced-${time}Z`;
  return existsSync(join(dataDir, name)) ? replacedFolder(dataDir, nowMilliseconds + 1000) : name;
}

/** Names in the data folder that a restore may replace, each as a whole. */
export const restoredNames = ["control.sqlite", "usage.sqlite", "datasets", "counts"] as const;

/** Suffixes of an SQLite database's files. SQLite would apply a leftover side file to any database file beside it. */
const parts = ["-journal", "-wal", "-shm", ""];

/**
 * Completes a restore that was killed while it put its files in place. Call this before opening a data folder.
 * @throws StoreFault `busy` if another process, such as a running restore, holds a lock of the folder.
 */
export function finishRestore(dataDir: string): void {
  if (!existsSync(join(dataDir, decidedFolder))) return;
  using _locks = takeBothLocks(dataDir);
  putInPlace(dataDir);
}

/**
 * Takes both locks of a data folder, and holds them until the result is disposed of. Meanwhile nobody serves the folder
 * or changes its datasets.
 * @throws StoreFault `busy` if another process holds one of them.
 */
export function takeBothLocks(dataDir: string): DisposableStack {
  using locks = new DisposableStack();
  const take = (name: string, busy: string) =>
    locks.adopt(takeLock(join(dataDir, name), busy), ({ release }) => release());
  take(
    "server.lock",
    `A server or a restore is using ${dataDir}. Stop the server, or wait until the restore has finished, and try again.`,
  );
  take(
    "import.lock",
    `Another command is changing the datasets in ${dataDir}. Try again when it has finished.`,
  );
  return locks.move();
}

/** Commits a complete, synced draft. From then on, the restore is completed even if the process is killed. */
export function decide(dataDir: string): void {
  renameSync(join(dataDir, draftFolder), join(dataDir, decidedFolder));
  syncPath(dataDir);
}

/**
 * Moves the old files aside and the new ones into their place. It may be interrupted at any point and run again.
 * @returns the folder that keeps the old files; null if there were none.
 */
export function putInPlace(dataDir: string): string | null {
  const decided = join(dataDir, decidedFolder);
  const kept = readdirSync(decided).find((name) => replacedName.test(name));
  for (const name of restoredNames) {
    const fresh = join(decided, newFolder, name);
    // A missing file was moved earlier, after the one it replaces, or is not part of the restore.
    if (!existsSync(fresh)) continue;
    for (const part of parts) {
      const old = name + part;
      if (existsSync(join(dataDir, old))) renameSync(join(dataDir, old), join(decided, kept!, old));
    }
    renameSync(fresh, join(dataDir, name));
  }
  syncPath(dataDir);
  const hasReplaced = kept !== undefined && readdirSync(join(decided, kept)).length > 0;
  if (hasReplaced) renameSync(join(decided, kept), join(dataDir, kept));
  rmSync(decided, { recursive: true });
  syncPath(dataDir);
  return hasReplaced ? join(dataDir, kept) : null;
}

const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/**
 * Runs `work` with a folder that only its owner may enter. Removes the folder when the work ends or fails, or when
 * SIGTERM, SIGINT or SIGHUP ends the process.
 * @param path start of the folder's path, to which `.tmp-` and six characters are added.
 * @param work function that must yield to the event loop now and then, or no signal is handled.
 */
export async function withTemporaryFolder<R>(path: string, work: (folder: string) => Promise<R>) {
  const folder = mkdtempSync(`${path}.tmp-`);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const onSignal = (signal: NodeJS.Signals) => {
    remove();
    stopListening();
    // Without a listener the signal has its usual effect again.
    process.kill(process.pid, signal);
  };
  const stopListening = () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  try {
    return await work(folder);
  } finally {
    stopListening();
    remove();
  }
}
