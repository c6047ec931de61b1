/** Are the databases of keys and usage intact, and is their schema known? */
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { immutableUri } from "#datasets/open-generation.ts";
import { checkBlock } from "#store/request-block.ts";
import { knownSteps, schemaSteps, type StoreName, unknownStep } from "#store/schema-steps.ts";
import { primaryCode, sqliteCodes } from "#store/store-fault.ts";
import { bytesText, type Check, type Examined, fail, type Finding, ok, warn } from "./check.ts";
import { namesIn } from "./kept-files.ts";
import { findHolder, holderText } from "./locks.ts";

interface StoreWords {
  name: StoreName;
  /** How to repair a damaged file. */
  remedy: (file: string) => string;
}

const control: StoreWords = {
  name: "control.sqlite",
  remedy: () =>
    "Stop the server, then: gp-records restore FILE --replace --undo-revocations; revoke again what was revoked since.",
};
const usage: StoreWords = {
  name: "usage.sqlite",
  remedy: (file) =>
    `Stop the server, then: rm -f ${file} ${file}-wal ${file}-shm; with it go the totals of 400 days, which bills are made from, the request log, and when keys were last used, but for what a backup has: tar -xf FILE -C ${dirname(file)} usage.sqlite`,
};

export const controlStore = storeCheck(control);
export const usageStore = storeCheck(usage);

function storeCheck(words: StoreWords): Check {
  return {
    name: words.name,
    look: (examined) => {
      // It is in PostgreSQL then, which has a check of its own.
      if (examined.config?.databaseUrl != null) return [];
      const file = join(examined.dataDir, words.name);
      const stats = statSync(file, { throwIfNoEntry: false });
      if (stats === undefined) return [absent(examined.dataDir, file, words)];
      if (!stats.isFile())
        return [fail(`${file} is not a file`, `Move it elsewhere: mv ${file} ${file}.elsewhere`)];
      const space = words.name === "usage.sqlite" ? spaceFindings(file) : [];
      return [contentFinding(file, examined, words), ...logFindings(file), ...space];
    },
  };
}

/** A server creates both databases: where the other one is there, this one was lost. */
function absent(dataDir: string, file: string, { name, remedy }: StoreWords): Finding {
  const wasServed = namesIn(dataDir).some((one) => /^(usage|control)\.sqlite/.test(one));
  return wasServed && name === "control.sqlite"
    ? fail(`${file} is missing: no key works`, remedy(file))
    : ok("is not there yet");
}

function contentFinding(file: string, { isThorough }: Examined, words: StoreWords): Finding {
  try {
    return lookInto(file, (database) => judgeContent(database, file, words, isThorough));
  } catch (error) {
    return unreadableStore(error, file, words.remedy(file));
  }
}

function judgeContent(
  database: DatabaseSync,
  file: string,
  { name, remedy }: StoreWords,
  isThorough: boolean,
): Finding {
  const pragma = isThorough ? "integrity_check" : "quick_check";
  const said = String(database.prepare(`pragma ${pragma}(1)`).get()![pragma]);
  if (said !== "ok") return unsoundStore(said, file, remedy(file));
  const steps = schemaSteps(database);
  const unknown = unknownStep(name, steps);
  if (unknown !== undefined)
    return fail(
      `${file} was written by a newer gp-records: this version does not know '${unknown}'`,
      "Start the newer version, or restore a backup made before it: gp-records restore FILE --replace",
    );
  const emptied = name === "control.sqlite" ? emptiedControl(database, file, steps) : null;
  if (emptied !== null) return emptied;
  const damage = name === "usage.sqlite" ? blockDamage(database, isThorough) : undefined;
  if (damage !== undefined) return fail(`${file} is damaged: ${damage}`, remedy(file));
  const missing = knownSteps[name].length - steps.length;
  return ok(
    missing === 0
      ? `is whole (${pragma})`
      : `is whole (${pragma}); the next start takes ${missing} steps to the present schema`,
  );
}

/** Of each table, unless the look is thorough. */
export const blocksLookedAt = 20;
/** The tables with blocks of the request log. */
export const blockTables = ["request_recent", "request_block"] as const;

/** What is wrong with the first block of the request log that cannot be read: among the newest, or among all. */
function blockDamage(database: DatabaseSync, isThorough: boolean): string | undefined {
  for (const table of blockTables) {
    if (!hasTable(database, table)) continue;
    const limit = isThorough ? -1 : blocksLookedAt;
    const rows = database
      .prepare(`select number, content from ${table} order by number desc limit ?`)
      .iterate(limit);
    for (const { number, content } of rows) {
      const damage = damageOf(table, Number(number), content as Uint8Array);
      if (damage !== undefined) return damage;
    }
  }
  return undefined;
}

/** What is wrong with a block of the request log, if anything. */
export function damageOf(table: string, number: number, content: Uint8Array): string | undefined {
  try {
    checkBlock(content);
    return undefined;
  } catch (error) {
    return `row ${number} of ${table} cannot be read: ${(error as Error).message}`;
  }
}

const hasTable = (database: DatabaseSync, name: string) =>
  database.prepare("select 1 from sqlite_schema where type = 'table' and name = ?").get(name) !==
  undefined;

/** Less than that is not worth stopping a server for. */
const freeBytesMax = 64 * 1024 ** 2;

/** Files of earlier versions cannot give back what was removed; small ones the server writes anew by itself. */
function spaceFindings(file: string): Finding[] {
  try {
    return lookInto(file, (database) => {
      const number = (pragma: string) =>
        Number(Object.values(database.prepare(`pragma ${pragma}`).get()!)[0]);
      const free = number("freelist_count") * number("page_size");
      if (number("auto_vacuum") !== 0 || free <= freeBytesMax) return [];
      return [
        warn(
          `${file} was made by an earlier version and cannot give back ${bytesText(free)} of free space in it`,
          `Nothing: new rows will fill it. Or stop the server, then: sqlite3 ${file} 'pragma auto_vacuum = incremental; vacuum'`,
        ),
      ];
    });
  } catch {
    // Why it cannot be read is found where its content is judged.
    return [];
  }
}

const logBytesMax = 64 * 1024 ** 2;

function logFindings(file: string): Finding[] {
  const bytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  return bytes <= logBytesMax
    ? []
    : [
        warn(
          `${file}-wal has grown to ${bytesText(bytes)}: something reads the database and never lets go`,
          `Restart the server. If it stays large, end the program that has it open: fuser ${file}`,
        ),
      ];
}

/**
 * Opens the file read-only, without creating anything beside it.
 * @throws what node:sqlite throws.
 */
function lookInto<R>(file: string, look: (database: DatabaseSync) => R): R {
  if (inUse(file)) return lookThrough(file, look);
  try {
    return lookThrough(immutableUri(file), look);
  } catch (error) {
    // Another process may have opened it meanwhile and changed it.
    if (inUse(file)) return lookThrough(file, look);
    throw error;
  }
}

/** Without a write-ahead log nobody has the file open, and reading it in the usual way would create one. */
const inUse = (file: string) => existsSync(`${file}-wal`);

function lookThrough<R>(place: string, look: (database: DatabaseSync) => R): R {
  const database = new DatabaseSync(place, { readOnly: true, timeout: 1000 });
  try {
    return look(database);
  } finally {
    database.close();
  }
}

/**
 * @param error what node:sqlite threw.
 * @param remedy how to repair a damaged file.
 */
export function unreadableStore(error: unknown, file: string, remedy: string): Finding {
  const { errcode = 0, message } = error as { errcode?: number; message: string };
  switch (primaryCode(errcode)) {
    case sqliteCodes.busy:
      return locked(file);
    case sqliteCodes.notADatabase:
      return fail(`${file} is not an SQLite database`, remedy);
    case sqliteCodes.corrupt:
      return fail(`${file} is damaged: SQLite says ${message}`, remedy);
    default:
      return notLookedAt(file, message, errcode);
  }
}

/** @param said what SQLite's check reported. */
export function unsoundStore(said: string, file: string, remedy: string): Finding {
  // A page that could not be read need not be damaged.
  const [, digits] = /error code=(\d+)/.exec(said) ?? [];
  const code = Number(digits ?? sqliteCodes.corrupt);
  return primaryCode(code) === sqliteCodes.corrupt
    ? fail(`${file} is damaged: SQLite says ${said}`, remedy)
    : notLookedAt(file, said, code);
}

function locked(file: string): Finding {
  const holder = findHolder(file);
  const who = holder === null ? "another process" : holderText(holder);
  return fail(
    `${file} is locked by ${who}, so that nobody can read it`,
    holder === null ? "End that process." : `Let it finish, or end it: kill ${holder.pid}`,
  );
}

const notLookedAt = (file: string, reason: string, code: number): Finding =>
  fail(
    `${file} could not be looked at: ${reason}; it may be whole, so leave it as it is`,
    `${remedies[primaryCode(code)] ?? "Mend what the other lines name"}; then run doctor again.`,
  );

const freeSpace =
  "Free some space on its disk, and lift limits on the size of files; where neither is short look for a failing disk (dmesg)";
const runAsOwner = "Run doctor as the user who owns DATA_DIR, on a file system that can be written";

/** What to do about a file that could not be looked at, by primary result code. */
const remedies: Readonly<Record<number, string>> = {
  [sqliteCodes.readOnly]: runAsOwner,
  [sqliteCodes.inputOutput]: freeSpace,
  [sqliteCodes.full]: freeSpace,
  [sqliteCodes.cannotOpen]: runAsOwner,
};

/**
 * What to say of a database of keys that has lost its accounts: it has none, though keys were used here. Null where it
 * has an account, or none was ever needed.
 * @param database the one of the file, of a schema that this program knows.
 */
function emptiedControl(
  database: DatabaseSync,
  file: string,
  steps: readonly string[],
): Finding | null {
  const dataDir = dirname(file);
  if (steps.length === 0)
    return hasServed(dataDir)
      ? fail(
          `${file} is empty, though a server has run on this folder: no account is in it, so no key works`,
          mendBy("gp-records restore FILE --replace --undo-revocations"),
        )
      : null;
  return hasRow(database, "account") || !hasTotals(dataDir)
    ? null
    : warn(
        `${file} holds no account, so no key works, though usage.sqlite knows of requests with one`,
        mendBy("gp-records restore FILE --replace"),
      );
}

const mendBy = (restore: string) =>
  `${restore}; revoke again what was revoked since. Without a backup: gp-records accounts create and keys create make new ones.`;

/** A server makes both of them once it has made the database of keys. */
const hasServed = (dataDir: string) =>
  namesIn(dataDir).includes("usage.sqlite") || namesIn(join(dataDir, "counts")).length > 0;

/** A fault of that database is reported by a check of its own. */
function hasTotals(dataDir: string): boolean {
  try {
    return lookInto(join(dataDir, "usage.sqlite"), (usage) => {
      return (
        hasRow(usage, "usage_hour") ||
        (hasTable(usage, "usage_recent") && hasRow(usage, "usage_recent"))
      );
    });
  } catch {
    return false;
  }
}

const hasRow = (database: DatabaseSync, table: "account" | "usage_hour" | "usage_recent") =>
  database.prepare(`select 1 from ${table} limit 1`).get() !== undefined;
