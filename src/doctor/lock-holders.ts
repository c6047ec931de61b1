/** Which process holds a lock on a file, without touching the lock; Linux only. */
import { readFileSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename } from "node:path";

export interface Holder {
  pid: number;
  /** Name of its program; empty where it cannot be seen. */
  program: string;
}

/** SQLite's write locks: the pending, reserved and shared bytes of a database, the writer's byte of a `-shm`. */
const databaseBytes = [0x40000000, 0x40000001, 0x40000002];
const sharedMemoryBytes = [120];

/**
 * The process that has the database, or the shared memory of its write-ahead log, locked for writing.
 * Null where nobody has, or where it cannot be told.
 */
export function findHolder(path: string): Holder | null {
  const inode = statSync(path, { throwIfNoEntry: false })?.ino;
  if (inode === undefined) return null;
  const bytes = path.endsWith("-shm") ? sharedMemoryBytes : databaseBytes;
  const pid = writeLocks().find(
    (lock) =>
      lock.inode === inode &&
      bytes.some((byte) => byte >= lock.start && byte <= lock.end) &&
      mayHaveOpen(lock.pid, path),
  )?.pid;
  return pid === undefined ? null : { pid, program: programOf(pid) };
}

export const holderText = ({ pid, program }: Holder) =>
  program === "" ? `process ${pid}` : `process ${pid} (${program})`;

interface WriteLock {
  pid: number;
  inode: number;
  start: number;
  end: number;
}

/** The device is left out: some file systems give the kernel another number than stat(2). */
const lockLine = /^\d+: POSIX +\S+ +WRITE (\d+) [0-9a-f]+:[0-9a-f]+:(\d+) (\d+) (\d+|EOF)$/gm;

function writeLocks(): WriteLock[] {
  return [...textOf("/proc/locks").matchAll(lockLine)].map(([, pid, inode, start, end]) => ({
    pid: Number(pid),
    inode: Number(inode),
    start: Number(start),
    end: end === "EOF" ? Number.POSITIVE_INFINITY : Number(end),
  }));
}

/** Two disks may have files of one inode number. Where the files of a process cannot be seen, it may. */
function mayHaveOpen(pid: number, path: string): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    const own = realpathSync(path);
    return readdirSync(folder).some((name) => linkOf(`${folder}/${name}`) === own);
  } catch {
    return true;
  }
}

/** A file may be closed between its being listed and its being looked at. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

const programOf = (pid: number) => basename(textOf(`/proc/${pid}/cmdline`).split("\0")[0]!);

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
