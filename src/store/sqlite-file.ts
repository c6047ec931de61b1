/** Opens the SQLite file of one of the two stores: creates it if needed, checks its schema, and takes missing steps. */
import { closeSync, existsSync, openSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DomainError, StoreFault } from "./domain-error.ts";
import { type FileStep, schemaSteps, stepTable, unfitSchema, fileSteps } from "./schema-steps.ts";
import { sqliteCodeOf, sqliteCodes, sqliteFault } from "./store-fault.ts";
import { otherThanFile } from "./whole-file.ts";

export interface FileShape {
  file: string;
  /** Steps of the schema, oldest first. */
  steps: readonly FileStep[];
  /** Settings of a connection, and of a file that has no content yet. */
  pragmas: string;
  /** Longest wait for another writer; the thread blocks meanwhile. */
  busyMilliseconds: number;
}

/**
 * Opens a file. A refused file is left as it was.
 * @throws DomainError `conflict` if another program made the schema, StoreFault `busy` if another process keeps the write
 *   lock, `unusable` if folder or file cannot be used.
 */
export function openFile(shape: FileShape): DatabaseSync {
  refuseOldSqlite();
  createPrivateFile(shape.file);
  const other = otherThanFile(shape.file);
  if (other !== null)
    throw new StoreFault(
      "unusable",
      `${shape.file} is ${other}, not a file. Find out who put it there, move it away, and put the file back, from a backup if need be.`,
    );
  let connection: DatabaseSync | undefined;
  try {
    connection = new DatabaseSync(shape.file, {
      timeout: shape.busyMilliseconds,
      enableForeignKeyConstraints: true,
    });
    makeReady(connection, shape);
    return connection;
  } catch (error) {
    connection?.close();
    throw sqliteFault(error, shape.file);
  }
}

function makeReady(
  connection: DatabaseSync,
  { file, steps, pragmas, busyMilliseconds }: FileShape,
): void {
  const known = steps.map(({ name }) => name);
  const taken = schemaSteps(connection);
  const unfit = unfitSchema(known, taken);
  if (unfit !== null)
    throw new DomainError(
      "conflict",
      `${file} ${unfit.fault}. Nothing was changed. ${unfit.remedy}`,
    );
  connection.exec(pragmas);
  useWriteAheadLog(connection, busyMilliseconds);
  if (taken.length < known.length) takeSteps(connection, steps);
}

/** Takes the missing steps in one transaction: all of them, or none if one fails or the process dies. */
export function takeSteps(connection: DatabaseSync, steps: readonly FileStep[]): void {
  connection.exec("begin immediate");
  try {
    // Read once more, because another process may have taken them meanwhile.
    const taken = schemaSteps(connection);
    connection.exec(`create table if not exists ${stepTable} (name text primary key)`);
    const note = connection.prepare(`insert into ${stepTable} (name) values (?)`);
    for (const { name, sql } of steps.filter((step) => !taken.includes(step.name))) {
      connection.exec(sql);
      note.run(name);
    }
    connection.exec("commit");
  } catch (error) {
    if (connection.isTransaction) connection.exec("rollback");
    throw error;
  }
}

/** Creates a folder (0700) and file (0600) that only this user can read. SQLite gives its side files the mode of the file. */
function createPrivateFile(file: string): void {
  // Opening and closing a file that SQLite has open in this process would drop its locks.
  if (existsSync(file)) return;
  try {
    makePrivateFolder(dirname(file));
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && existsSync(file)) return;
    throw new StoreFault(
      "unusable",
      `${file} cannot be created (${code}). Give this user write access to the folder, or name another one with DATA_DIR.`,
      { cause: error },
    );
  }
}

const pauseMilliseconds = 10;

/**
 * Switches an SQLite file to its write-ahead log, where readers and one writer do not wait for each other. The mode is
 * stored in the file, so only the first switch writes. Blocks the thread while another process makes that switch.
 */
export function useWriteAheadLog(connection: DatabaseSync, busyMilliseconds: number): void {
  const deadline = performance.now() + busyMilliseconds;
  for (;;) {
    try {
      connection.exec("pragma journal_mode = wal");
      return;
    } catch (error) {
      // SQLite's own busy timeout does not cover this statement, which upgrades a read lock to a write lock.
      if (sqliteCodeOf(error) !== sqliteCodes.busy || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMilliseconds);
    }
  }
}

// Up to 3.51.2 a commit could be lost if two connections wrote and checkpointed at the same moment: the "WAL-reset bug",
// https://www.sqlite.org/releaselog/3_51_3.html.
const oldestVersion = "3.51.3";

/**
 * Refuses an SQLite that can lose data.
 * @param version SQLite that this Node was built with, such as `3.53.4`.
 * @throws StoreFault `unusable` below 3.51.3.
 */
export function refuseOldSqlite(version = process.versions["sqlite"] ?? "none"): void {
  if (asNumber(version) >= asNumber(oldestVersion)) return;
  throw new StoreFault(
    "unusable",
    `This Node comes with SQLite ${version}, which can lose committed data; gp-records needs ${oldestVersion} or newer. Run it with its own Node, or with Node 24.15 or newer.`,
  );
}

function asNumber(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map((part) => Number(part) || 0);
  return (major * 1000 + minor) * 1000 + patch;
}

/**
 * Creates a folder, and missing ones above it, with mode 0700. Existing folders stay as they are.
 * @throws NodeJS.ErrnoException naming the folder that cannot be created.
 */
export function makePrivateFolder(folder: string): void {
  if (existsSync(folder)) return;
  // Not `recursive`: Node would try for ever in a folder that refuses new ones with ENOENT, as /proc does.
  const parent = dirname(folder);
  if (parent !== folder) makePrivateFolder(parent);
  try {
    mkdirSync(folder, 0o700);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

export const controlFile = (dataDir: string) => join(dataDir, "control.sqlite");
export const usageFile = (dataDir: string) => join(dataDir, "usage.sqlite");

const busyDefault = 5000;

/**
 * Returns the shape of accounts, people and keys. A committed revocation survives a power failure, and deleted data is
 * overwritten with zeros.
 */
export const controlShape = (dataDir: string, busyMilliseconds = busyDefault): FileShape => ({
  file: controlFile(dataDir),
  steps: fileSteps["control.sqlite"],
  pragmas: "pragma synchronous = full; pragma secure_delete = on",
  busyMilliseconds,
});

/** Returns the shape of usage of keys and requests. A power failure may lose its last seconds, and the file can shrink. */
export const usageShape = (dataDir: string, busyMilliseconds = busyDefault): FileShape => ({
  file: usageFile(dataDir),
  steps: fileSteps["usage.sqlite"],
  pragmas: "pragma synchronous = normal; pragma auto_vacuum = full",
  busyMilliseconds,
});
