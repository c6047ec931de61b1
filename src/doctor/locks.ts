/** Does a server or an import run on the data folder, and can the next one take its lock? */
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { otherThanFile } from "#store/plain-file.ts";
import { sqliteCodeOf, sqliteCodes } from "#store/store-fault.ts";
import { type Check, fail, faultsOr, type Finding } from "./check.ts";

const serverPath = (dataDir: string) => join(dataDir, "server.lock");
const importPath = (dataDir: string) => join(dataDir, "import.lock");

export const serverLock = (dataDir: string) => heldLock(serverPath(dataDir));
export const importLock = (dataDir: string) => heldLock(importPath(dataDir));

/** A held lock is no fault: the system releases it with its process, so it is never stale. */
export const locks: Check = {
  name: "locks",
  look({ dataDir, config }) {
    const server = sentence("server", serverLock(dataDir)?.text);
    const ofServer = findingOf(
      serverPath(dataDir),
      "no server can start and no restore can be made",
    );
    // Imports of several machines take a lock in the database, of which the check of shared datasets tells.
    if (config !== null && config.databaseUrl !== null)
      return faultsOr(ofServer, `on this folder ${server}`);
    const ofImport = findingOf(
      importPath(dataDir),
      "nothing can be imported, published or restored",
    );
    const both = [server, sentence("import", importLock(dataDir)?.text)].join("; ");
    return faultsOr([...ofServer, ...ofImport], both);
  },
};

function findingOf(path: string, consequence: string): Finding[] {
  switch (lockFault(path)) {
    case null:
      return [];
    case "foreign":
      return [
        fail(
          `${path} is not a lock that gp-records made, so ${consequence}`,
          `Stop every gp-records that uses the folder, then: rm ${path}; it means nothing by itself.`,
        ),
      ];
    default:
      return [
        fail(
          `${path} cannot be opened, so ${consequence}`,
          "Run gp-records as the owner of DATA_DIR; if that is so, see that this is a file that it may write.",
        ),
      ];
  }
}

const sentence = (what: string, holder: string | undefined) =>
  holder === undefined ? `no ${what} runs` : `the ${what} is ${holder}`;

/** A process that holds a lock on a file. */
export interface Holder {
  pid: number;
  /** Name of its program; empty where it cannot be seen. */
  program: string;
}

/** SQLite's write locks: the pending, reserved and shared bytes of a database, the writer's byte of a `-shm`. */
const databaseBytes = [0x40000000, 0x40000001, 0x40000002];
const sharedMemoryBytes = [120];

/**
 * The process that has the database, or the shared memory of its write-ahead log, locked for writing; the lock is not
 * touched. Null where there is none, or where it cannot be told: only Linux tells.
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

/** The device is ignored: some file systems give the kernel another number than stat(2). */
const lockLine = /^\d+: POSIX +\S+ +WRITE (\d+) [0-9a-f]+:[0-9a-f]+:(\d+) (\d+) (\d+|EOF)$/gm;

function writeLocks(): WriteLock[] {
  return [...textOf("/proc/locks").matchAll(lockLine)].map(([, pid, inode, start, end]) => ({
    pid: Number(pid),
    inode: Number(inode),
    start: Number(start),
    end: end === "EOF" ? Number.POSITIVE_INFINITY : Number(end),
  }));
}

/** Files on two disks may share an inode number. True where the files of a process cannot be seen. */
function mayHaveOpen(pid: number, path: string): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    const own = realpathSync(path);
    return readdirSync(folder).some((name) => linkOf(`${folder}/${name}`) === own);
  } catch {
    return true;
  }
}

/** Empty for a file that was closed after it was listed. */
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

/** One of the program's own locks, while it is held. */
interface HeldLock {
  /** Null where it cannot be told. */
  holder: Holder | null;
  text: string;
}

/** Null where nobody holds it; the lock is not touched. */
function heldLock(path: string): HeldLock | null {
  if (!existsSync(path)) return null;
  const holder = findHolder(path);
  if (holder !== null) return { holder, text: holderText(holder) };
  return readCode(path) === sqliteCodes.busy ? { holder: null, text: "another process" } : null;
}

/** Why nobody can take it: it is no SQLite file, or cannot be opened. Null where it is held, free or not there. */
function lockFault(path: string): "foreign" | "closed" | null {
  if (!existsSync(path)) return null;
  switch (readCode(path)) {
    case sqliteCodes.corrupt:
    case sqliteCodes.notADatabase:
      return "foreign";
    // A folder in its place is an error of reading too.
    case sqliteCodes.inputOutput:
    case sqliteCodes.cannotOpen:
      return "closed";
    default:
      return null;
  }
}

/**
 * The primary code of SQLite's error on reading the file, if there is one. A lock is exclusive: while it is held nobody
 * can even read the file, which is empty.
 */
function readCode(path: string): number | undefined {
  // To open a FIFO would wait for a writer.
  if (otherThanFile(path) !== null) return sqliteCodes.cannotOpen;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    db.prepare("select 1 from sqlite_schema").get();
    return undefined;
  } catch (error) {
    return sqliteCodeOf(error);
  } finally {
    db?.close();
  }
}
