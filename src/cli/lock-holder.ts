/** Who holds the import lock, for whoever is refused: a note beside the lock, true only while the lock is held. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";

interface LockHolder {
  pid: number;
  /** RFC 3339. */
  since: string;
}

/** Null where there is no note, or it is of a process that was killed. */
export function readHolder(path: string): LockHolder | null {
  try {
    const holder = JSON.parse(readFileSync(path, "utf8")) as LockHolder;
    return isRunning(holder.pid) ? holder : null;
  } catch {
    return null;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's process may not be asked, but it is there.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The note is a courtesy: a full disk must not keep anybody from the lock. */
export function noteHolder(path: string, nowMilliseconds: number): void {
  const since = `${new Date(nowMilliseconds).toISOString().slice(0, 19)}Z`;
  try {
    writeFileSync(path, JSON.stringify({ pid: process.pid, since }), { mode: 0o600 });
  } catch {
    forgetHolder(path);
  }
}

export function forgetHolder(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The next holder writes it anew.
  }
}
