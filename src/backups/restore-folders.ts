/** The folders in which a backup is made and a restore works, and the completion of a decided restore whose process was killed. */
import { existsSync, readdirSync, renameSync, rmSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { takeLock, type Lock } from "#store/lock.ts";
import { syncPath } from "#store/whole-file.ts";

/** Folder of a restore in preparation. One left behind means nothing; the next restore removes it. */
export const draftFolder = ".restore-draft";
/** Its name once the restore is decided. From then on the next process that opens the data folder completes it. */
export const decidedFolder = ".restore";

/** Subfolders of both: the new files, and beside them the files that they replace, under the name that these keep. */
export const newFolder = "new";
const replacedName = /^replaced-/;
export const replacedFolder = (nowMilliseconds: number) =>
  `replaced-${new Date(nowMilliseconds).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;

/** Names that a restore replaces, each as a whole. It brings each of them, even if empty. */
export const restoredNames = ["control.sqlite", "usage.sqlite", "datasets", "counts"] as const;

/** Ends of the names of an SQLite database's files. SQLite would apply the others to any database file beside them. */
const parts = ["-journal", "-wal", "-shm", ""];

/**
 * Completes a restore that was killed while it put its files in place. Call it before opening a data folder.
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

/** Takes both locks. While they are held, nobody serves the folder or imports into it. @throws StoreFault `busy`. */
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

/** Decides a complete and synced draft: from then on it is completed in any case. */
export function decide(dataDir: string): void {
  renameSync(join(dataDir, draftFolder), join(dataDir, decidedFolder));
  syncPath(dataDir);
}

/**
 * Moves old files aside and the decided ones into their place. It can be interrupted at any point and run again.
 * @returns the folder that keeps the old files; null if there were none.
 */
export function putInPlace(dataDir: string): string | null {
  const decided = join(dataDir, decidedFolder);
  const kept = readdirSync(decided).find((name) => replacedName.test(name));
  for (const name of restoredNames) {
    const fresh = join(decided, newFolder, name);
    // A missing file was moved already, after the one that it replaces.
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
 * Runs `work` with a private folder that is removed however the work ends, except by `kill -9`.
 * @param path prefix of the folder, followed by `.tmp-` and six characters; only its owner may enter it.
 * @param work must yield to the event loop now and then, or no signal is handled.
 */
export async function withTemporaryFolder<R>(
  path: string,
  work: (folder: string) => Promise<R>,
): Promise<R> {
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
