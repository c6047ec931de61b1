/**
 * Opens a store's SQLite file: creates it if needed, checks its schema, and applies missing steps. A released step is
 * never changed, only followed by others.
 */
import { closeSync, existsSync, openSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { addedSql, controlTableSql } from "./control-tables.ts";
import { DomainError, sqliteCodeOf, sqliteCodes, sqliteFault, StoreFault } from "./store-fault.ts";
import { sqliteUsageSchema } from "./usage-schema.ts";

interface FileStep {
  name: string;
  sql: string;
}

/** Table and triggers that count changes to the three tables with facts about keys. No other code counts them. */
const keyChanges = [
  "create table key_change (count integer not null)",
  "insert into key_change (count) values (0)",
  ...["api_key", "account", "plan"].flatMap((table) =>
    ["insert", "update", "delete"].map(
      (event) => `create trigger key_change_${table}_${event} after ${event} on ${table}
        begin update key_change set count = count + 1; end`,
    ),
  ),
];

/** SQL for the account whose keys an insertion or an update affects, by table; -1 for all accounts. */
const changedAccounts = { api_key: "new.account", account: "new.number", plan: "-1" };

/**
 * Statements that rebuild `keyChanges` with a row for each account, as in PostgreSQL. Account 0 counts all changes. An
 * account's row has the count of its keys' last change. Account -1 has that of the last change that may concern all.
 */
const keyChangesByAccount = [
  "drop table key_change",
  "create table key_change (account integer primary key, count integer not null)",
  "insert into key_change values (0, 0), (-1, 0)",
  ...Object.entries(changedAccounts).flatMap(([table, changed]) =>
    ["insert", "update", "delete"].flatMap((event) => [
      `drop trigger key_change_${table}_${event}`,
      `create trigger key_change_${table}_${event} after ${event} on ${table} begin
        update key_change set count = count + 1 where account = 0;
        insert into key_change select ${event === "delete" ? "-1" : changed}, count from key_change where account = 0
          on conflict (account) do update set count = excluded.count;
      end`,
    ]),
  ),
];

const textOf = (statements: readonly string[]) => `${statements.join(";\n")};\n`;

/** Schema steps of each store, by file name. */
export const fileSteps = {
  "control.sqlite": [
    { name: "0001-tables", sql: textOf([...controlTableSql, ...keyChanges]) },
    { name: "0002-followed-views", sql: textOf(addedSql.followedViews) },
    { name: "0003-key-changes-by-account", sql: textOf(keyChangesByAccount) },
    { name: "0004-suppressions", sql: textOf(addedSql.suppressions) },
    { name: "0005-syncs", sql: textOf(addedSql.syncs) },
    { name: "0006-suppressed-gps", sql: textOf(addedSql.suppressedGps) },
  ],
  "usage.sqlite": [{ name: "0001-tables", sql: textOf(sqliteUsageSchema) }],
} as const satisfies Record<string, readonly FileStep[]>;

export type StoreName = keyof typeof fileSteps;

export const storeNames = Object.keys(fileSteps) as readonly StoreName[];

/** Returns the names of the steps that this program knows, oldest first. */
export const knownSteps = (store: StoreName): string[] => fileSteps[store].map(({ name }) => name);

/** Table that lists the steps applied to a file. */
const stepTable = "schema_step";

/**
 * Returns the names of the steps applied to a file, oldest first. Returns none for a file without tables, and one
 * unknown name for tables without a list of steps.
 * @throws whatever node:sqlite throws.
 */
export function schemaSteps(database: DatabaseSync): string[] {
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
  if (!tables.some(({ name }) => name === stepTable)) return tables.length === 0 ? [] : ["unnoted"];
  const rows = database.prepare(`select name from ${stepTable} order by name`).all();
  return rows.map(({ name }) => String(name));
}

export type Unfit = NonNullable<ReturnType<typeof unfitSchema>>;

/**
 * Returns the reason why this program cannot use a schema, and the remedy. Returns null if the schema can be used. The
 * reason completes a sentence that begins with a place.
 * @param known the program's steps, oldest first. A schema that has steps, but not the first one, comes from an earlier
 *   program.
 * @param taken steps applied to the schema, without those that a program need not know.
 */
export function unfitSchema(known: readonly string[], taken: readonly string[]) {
  if (taken.length > 0 && !taken.includes(known[0]!))
    return {
      fault:
        "was made by a version of gp-records that was never released, and this version cannot read it",
      remedy:
        "To keep a copy of the present data, write it into files with `gp-records export` of that older program. Then name another place with DATA_DIR or DATABASE_URL, import every source again, and create accounts and keys again.",
    };
  const unknown = taken.find((step) => !known.includes(step));
  if (unknown === undefined) return null;
  return {
    fault: `was written by a newer version of gp-records: its schema has '${unknown}', which this version does not know`,
    remedy: "Start the newer version, or restore a backup made before the update to it.",
  };
}

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
 *   write lock, `full` or `unusable` if the folder, the file or this version of SQLite cannot be used.
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

/** Creates a missing file (mode 0600) and folders above it (0700). SQLite gives its side files the file's mode. */
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
  if (asNumber(version) >= asNumber(oldestVersion)) return;
  throw new StoreFault(
    "unusable",
    `This Node uses SQLite ${version}, which can lose committed data; gp-records needs ${oldestVersion} or newer. Use a Node from nodejs.org, which has an SQLite of its own, or update the SQLite of this system.`,
  );
}

/** Returns a version as a number. A comparison by `localeCompare` would load 2 MB of language rules. */
function asNumber(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map((part) => Number(part) || 0);
  return (major * 1000 + minor) * 1000 + patch;
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
