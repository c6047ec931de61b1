/** A lock that the operating system releases however the process ends: an SQLite lock on a separate file. */
import { chmodSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { sqliteFault, StoreFault } from "./store-fault.ts";

/**
 * Takes the lock without waiting.
 * @param path lock file, created if needed. It remains after the release and means nothing by itself.
 * @param busyMessage message of the fault if the lock is already held.
 * @throws StoreFault `busy` if the lock is already held, `full` or `unusable` if the file cannot be created or used.
 */
export function takeLock(path: string, busyMessage: string) {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: 0 });
    // The journal is in memory, because pruning takes this lock even on a disk too full for a journal.
    db.exec("pragma journal_mode = memory; pragma locking_mode = exclusive; begin exclusive");
    chmodSync(path, 0o600);
  } catch (error) {
    db?.close();
    const fault = sqliteFault(error, path);
    const kind = fault instanceof StoreFault ? fault.kind : "unusable";
    if (kind === "busy") throw new StoreFault("busy", busyMessage);
    if (kind === "full") throw fault;
    throw new StoreFault(
      "unusable",
      `The lock file ${path} cannot be locked: ${(error as Error).message}. Make sure that this user may write to the file and its folder. If the file is damaged, stop every gp-records process that uses this folder and remove the file, which holds no data.`,
      { cause: error },
    );
  }
  const held = db;
  return { release: () => held.close() };
}

/** Reports whether a name, such as `current.4711.tmp`, belongs to an unfinished file whose process has ended. */
export function isAbandoned(name: string): boolean {
  const [, pid] = /\.(\d+)\.(?:\d+\.)?tmp$/.exec(name) ?? [];
  if (pid === undefined) return false;
  try {
    return !process.kill(Number(pid), 0);
  } catch (error) {
    // With EPERM the process is running, but belongs to another user and may not be signalled.
    return (error as NodeJS.ErrnoException).code !== "EPERM";
  }
}
