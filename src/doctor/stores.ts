/** Checks the databases of keys and usage: whether they are intact and of a known schema, and whether a restore is unfinished. */
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { decidedFolder, draftFolder } from "#backups/restore-folders.ts";
import { immutableUri } from "#datasets/open-generation.ts";
import { knownSteps, schemaSteps, type StoreName, unfitSchema } from "#store/schema-steps.ts";
import { primaryCode, sqliteCodes } from "#store/store-fault.ts";
import { type Check, fail, faultsOr, type Finding, ok, warn } from "./check.ts";
import { namesIn } from "./folder.ts";

const remedies: Readonly<Record<StoreName, (file: string) => string>> = {
  "control.sqlite": () =>
    "Stop the server, then: gp-records restore FILE --replace --undo-revocations; revoke again what was revoked since.",
  "usage.sqlite": (file) =>
    `Stop the server, then: rm -f ${file} ${file}-wal ${file}-shm; with it go the totals of 400 days, which bills are made from, the request log, and when keys were last used, but for what a backup has: tar -xf FILE -C ${dirname(file)} usage.sqlite`,
};

export const controlStore = storeCheck("control.sqlite");
export const usageStore = storeCheck("usage.sqlite");

function storeCheck(name: StoreName): Check {
  return {
    name,
    look: ({ config, dataDir }) => {
      // It is in PostgreSQL then, which has a check of its own.
      if (config?.databaseUrl != null) return [];
      const file = join(dataDir, name);
      const stats = statSync(file, { throwIfNoEntry: false });
      if (stats === undefined) return [absent(dataDir, file, name)];
      if (!stats.isFile())
        return [fail(`${file} is not a file`, `Move it elsewhere: mv ${file} ${file}.elsewhere`)];
      return [contentFinding(file, name)];
    },
  };
}

/** A server creates both databases: where the other one is there, this one was lost. */
function absent(dataDir: string, file: string, name: StoreName): Finding {
  const wasServed = namesIn(dataDir).some((one) => /^(usage|control)\.sqlite/.test(one));
  return wasServed && name === "control.sqlite"
    ? fail(`${file} is missing: no key works`, remedies[name](file))
    : ok("is not there yet");
}

function contentFinding(file: string, name: StoreName): Finding {
  try {
    return lookInto(file, (database) => {
      const said = String(database.prepare("pragma quick_check(1)").get()!["quick_check"]);
      if (said !== "ok") return unsoundStore(said, file, remedies[name](file));
      const unfit = unfitSchema(knownSteps[name], schemaSteps(database));
      return unfit === null
        ? ok("is whole (quick_check)")
        : fail(`${file} ${unfit.fault}`, unfit.remedy);
    });
  } catch (error) {
    return unreadableStore(error, file, remedies[name](file));
  }
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
 * Tells a damaged file from one that merely cannot be read now, which must not be replaced.
 * @param error what node:sqlite threw. @param remedy how to repair a damaged file.
 */
export function unreadableStore(error: unknown, file: string, remedy: string): Finding {
  const { errcode = 0, message } = error as { errcode?: number; message: string };
  switch (primaryCode(errcode)) {
    case sqliteCodes.busy:
      return fail(
        `${file} is locked by another process, so that nobody can read it`,
        `Let it finish, or end it: fuser ${file} names it.`,
      );
    case sqliteCodes.notADatabase:
      return fail(`${file} is not an SQLite database`, remedy);
    case sqliteCodes.corrupt:
      return fail(`${file} is damaged: SQLite says ${message}`, remedy);
    default:
      return notLookedAt(file, message);
  }
}

/** @param said what SQLite's check reported. */
export function unsoundStore(said: string, file: string, remedy: string): Finding {
  // A page that could not be read need not be damaged.
  const [, digits] = /error code=(\d+)/.exec(said) ?? [];
  return primaryCode(Number(digits ?? sqliteCodes.corrupt)) === sqliteCodes.corrupt
    ? fail(`${file} is damaged: SQLite says ${said}`, remedy)
    : notLookedAt(file, said);
}

const notLookedAt = (file: string, reason: string): Finding =>
  fail(
    `${file} could not be looked at: ${reason}; it may be whole, so leave it as it is`,
    "Run doctor as the owner of DATA_DIR, with free space on its disk; where that changes nothing, look for a failing disk (dmesg).",
  );

export const restoreLeftovers: Check = {
  name: "leftovers",
  look({ dataDir }) {
    const decided = join(dataDir, decidedFolder);
    const draft = join(dataDir, draftFolder);
    const findings: Finding[] = [];
    if (existsSync(decided))
      findings.push(
        warn(
          `${decided} is a restore that was killed while it put its files in place`,
          "Any other command finishes it, such as: gp-records datasets list",
        ),
      );
    else if (existsSync(draft))
      findings.push(
        warn(
          `${draft} is a restore that runs, or what one that was killed left; nothing of it was put in place`,
          `Nothing: the next restore removes it. Or, while none runs: rm -r ${draft}`,
        ),
      );
    return faultsOr(findings, "no restore is unfinished");
  },
};
