/** A lock that the system releases when the process ends, however it ends: SQLite's lock on a separate file. */
import { chmodSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { StoreFault } from "./domain-error.ts";
import { requirePlainFile } from "./plain-file.ts";
import { sqliteFault } from "./store-fault.ts";

export interface Lock {
  release(): void;
}

/**
 * Takes the lock at once or not at all.
 * @param path of a file that is created if needed; it stays there and means nothing by itself.
 * @param busyMessage of the fault where another process holds the lock.
 * @throws StoreFault `busy`; `unusable` or `full` where the file cannot be made.
 */
export function takeLock(path: string, busyMessage: string): Lock {
  let db: DatabaseSync | undefined;
  try {
    requirePlainFile(path);
    db = new DatabaseSync(path, { timeout: 0 });
    // The journal is in memory, because pruning takes this lock, also on a disk too full for a journal.
    db.exec("pragma journal_mode = memory; pragma locking_mode = exclusive; begin exclusive");
    chmodSync(path, 0o600);
  } catch (error) {
    db?.close();
    throw lockFault(error, path, busyMessage);
  }
  const held = db;
  return { release: () => held.close() };
}

function lockFault(error: unknown, path: string, busyMessage: string): unknown {
  const fault = sqliteFault(error, path);
  const kind = fault instanceof StoreFault ? fault.kind : "unusable";
  if (kind === "busy") return new StoreFault("busy", busyMessage);
  if (kind === "full") return fault;
  return new StoreFault(
    "unusable",
    `The lock ${path} cannot be taken: ${(error as Error).message}. May this user write its folder? Nothing is kept in it: a file that is damaged can be removed while no gp-records is running.`,
    { cause: error },
  );
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's process, which may not be signalled, but it runs.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
