/** Opens a store's SQLite file: creates it if needed, checks its schema, and applies missing steps. */
import { closeSync, existsSync, openSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  type FileStep,
  fileSteps,
  schemaSteps,
  type StoreName,
  stepTable,
  unfitSchema,
} from "./schema-steps.ts";
import { DomainError, sqliteCodeOf, sqliteCodes, sqliteFault, StoreFault } from "./store-fault.ts";

export interface FileShape {
  file: string;
  /** Steps of the schema, oldest first. */
  steps: readonly FileStep[];
  /** Pragmas for each connection. Some take effect only while the file is empty. */
  pragmas: string;
  /** Longest wait for another writer, in ms. It blocks the thread. */
  busyMilliseconds: number;
}

/**
 * Opens a file. Leaves a refused file unchanged.
 * @throws DomainError `conflict` if this version cannot use the schema, StoreFault `busy` if another process holds the
 *   write lock, `full` or `unusable` if the folder or the file cannot be used.
 */
export function openFile({ file, steps, pragmas, busyMilliseconds }: FileShape): DatabaseSync {
  refuseOldSqlite();
  createPrivateFile(file);
  let connection: DatabaseSync | undefined;
  try {
    connection = new DatabaseSync(file, {
      timeout: busyMilliseconds,
      enableForeignKeyConstraints: true,
    });
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
    return connection;
  } catch (error) {
    connection?.close();
    throw sqliteFault(error, file);
  }
}

/** Applies the missing steps in one transaction: all of them, or none if one fails or the process dies. */
export function takeSteps(connection: DatabaseSync, steps: readonly FileStep[]): void {
  connection.exec("begin immediate");
  try {
    // Reads the steps again, because another process may have applied them in the meantime.
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

/**
 * Creates a missing file (mode 0600) and the missing folders above it (0700). SQLite gives its side files the file's
 * mode.
 */
function createPrivateFile(file: string): void {
  // Opening and closing a file that SQLite has open in this process would drop SQLite's locks.
  if (existsSync(file)) return;
  try {
    makePrivateFolder(dirname(file));
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && existsSync(file)) return;
    throw new StoreFault(
      "unusable",
      `${file} cannot be created (${code}). Let this user create files in its folder, or name another folder with DATA_DIR.`,
      { cause: error },
    );
  }
}

const pauseMilliseconds = 10;

/**
 * Switches an SQLite file to write-ahead logging, in which readers and the writer do not wait for each other. The file
 * stores the mode, so only the first switch writes. Blocks the thread for up to `busyMilliseconds` while another
 * process makes the switch.
 */
export function useWriteAheadLog(connection: DatabaseSync, busyMilliseconds: number): void {
  const deadline = performance.now() + busyMilliseconds;
  for (;;) {
    try {
      connection.exec("pragma journal_mode = wal");
      return;
    } catch (error) {
      // SQLite's busy timeout does not cover this statement, because it upgrades a read lock to a write lock.
      if (sqliteCodeOf(error) !== sqliteCodes.busy || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMilliseconds);
    }
  }
}

// Up to 3.51.2, a commit could be lost if two connections wrote and checkpointed at the same moment: the "WAL-reset
// bug", https://www.sqlite.org/releaselog/3_51_3.html.
const oldestVersion = "3.51.3";

/**
 * Refuses an SQLite version that can lose data.
 * @param version SQLite version, such as `3.53.4`; by default the version built into this Node.
 * @throws StoreFault `unusable` if the version is below 3.51.3.
 */
export function refuseOldSqlite(version = process.versions["sqlite"] ?? "none"): void {
  if (/^\d/.test(version) && version.localeCompare(oldestVersion, "en", { numeric: true }) >= 0)
    return;
  throw new StoreFault(
    "unusable",
    `This Node uses SQLite ${version}, which can lose committed data; gp-records needs ${oldestVersion} or newer. Use a Node from nodejs.org, which has an SQLite of its own, or update the SQLite of this system.`,
  );
}

/**
 * Creates a folder and its missing parents with mode 0700. Leaves existing folders as they are.
 * @throws NodeJS.ErrnoException naming the folder that cannot be created.
 */
export function makePrivateFolder(folder: string): void {
  if (existsSync(folder)) return;
  // Not `recursive`: Node would retry for ever in a folder, such as /proc, that refuses new folders with ENOENT.
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

const pragmas: Readonly<Record<StoreName, string>> = {
  // A committed revocation survives a power failure. Deleted data is overwritten with zeros.
  "control.sqlite": "pragma synchronous = full; pragma secure_delete = on",
  // A power failure may lose the latest commits. The file shrinks as rows are deleted.
  "usage.sqlite": "pragma synchronous = normal; pragma auto_vacuum = full",
};

export const shapeOf = (name: StoreName, dataDir: string, busyMilliseconds = 5000): FileShape => ({
  file: join(dataDir, name),
  steps: fileSteps[name],
  pragmas: pragmas[name],
  busyMilliseconds,
});
