/** Checks the databases of keys and usage, and looks for an unfinished restore. */
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { decidedFolder } from "#backups/restore-folders.ts";
import { immutableUri } from "#datasets/open-generation.ts";
import { knownSteps, schemaSteps, type StoreName, unfitSchema } from "#store/sqlite-file.ts";
import { primaryCode, sqliteCodes } from "#store/store-fault.ts";
import { type Check, fail, type Finding, ok, warn } from "./check.ts";
import { namesIn } from "./folder.ts";

const remedies: Readonly<Record<StoreName, (file: string) => string>> = {
  "control.sqlite": () =>
    "Stop the server, then restore a backup: gp-records restore FILE --replace --undo-revocations; then revoke again each key that was revoked after that backup.",
  "usage.sqlite": (file) =>
    `Stop the server, then: rm -f ${file} ${file}-wal ${file}-shm; this deletes the totals of 400 days, which bills are made from, the request log, and the times when keys were last used. To bring back those that a backup has, then run: tar -xf FILE -C ${dirname(file)} usage.sqlite`,
};

export const controlStore = storeCheck("control.sqlite");
export const usageStore = storeCheck("usage.sqlite");

function storeCheck(name: StoreName): Check {
  return {
    name,
    look: ({ config, dataDir }) => {
      // With DATABASE_URL, the store is in PostgreSQL, which has its own check.
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

/** Judges a missing or empty database. A server makes control.sqlite first: another file shows that keys were lost. */
function absent(dataDir: string, file: string, name: StoreName): Finding {
  const wasServed = namesIn(dataDir).some((one) => /^(counts$|(usage|control)\.sqlite)/.test(one));
  return wasServed && name === "control.sqlite"
    ? fail(`${file} is missing or empty, so no key works`, remedies[name](file))
    : ok("does not exist or has no tables yet");
}

function contentFinding(file: string, name: StoreName): Finding {
  const judge = (code: number, said: string) => judgeStore(file, code, said, remedies[name](file));
  try {
    // No process has the file open if there is no write-ahead log. An ordinary read would create a log.
    const place = existsSync(`${file}-wal`) ? file : immutableUri(file);
    using database = new DatabaseSync(place, { readOnly: true, timeout: 1000 });
    const said = String(database.prepare("pragma quick_check(1)").get()!["quick_check"]);
    // A page that cannot be read is not necessarily damaged.
    const [, digits] = /error code=(\d+)/.exec(said) ?? [];
    if (said !== "ok") return judge(Number(digits ?? sqliteCodes.corrupt), said);
    const steps = schemaSteps(database);
    if (steps.length === 0) return absent(dirname(file), file, name);
    const unfit = unfitSchema(knownSteps(name), steps);
    return unfit === null
      ? ok("is intact (quick_check)")
      : fail(`${file} ${unfit.fault}`, unfit.remedy);
  } catch (error) {
    const { errcode = 0, message } = error as { errcode?: number; message: string };
    return judge(errcode, message);
  }
}

/**
 * Distinguishes a damaged file from one that merely cannot be read now. The latter must not be replaced.
 * @param code SQLite error code.
 * @param remedy repair of a damaged file.
 */
export function judgeStore(file: string, code: number, said: string, remedy: string): Finding {
  const damages: readonly number[] = [sqliteCodes.corrupt, sqliteCodes.notADatabase];
  if (damages.includes(primaryCode(code)))
    return fail(`${file} is damaged: SQLite says ${said}`, remedy);
  return fail(
    `${file} could not be checked: ${said}; it may be intact, so leave it as it is`,
    "Run doctor as the owner of DATA_DIR, with free space on its disk, and while no other process locks the file (fuser names those). If that changes nothing, look for a failing disk (dmesg).",
  );
}

export const restoreLeftovers: Check = {
  name: "leftovers",
  look({ dataDir }) {
    const decided = join(dataDir, decidedFolder);
    if (!existsSync(decided)) return [ok("no restore is unfinished")];
    return [
      warn(
        `${decided} was left by a restore that was killed while it put its files in place`,
        "Run any other command, which finishes the restore; for example: gp-records datasets list",
      ),
    ];
  },
};
