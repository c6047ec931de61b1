/** Are the databases of keys and of usage whole, and of this program's schema? */
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { dirname, join } from "node:path";
import { knownSteps, schemaSteps, type StoreName, unknownStep } from "#store/schema-steps.ts";
import { bytesText } from "./bytes.ts";
import { type Check, type Examined, fail, type Finding, ok, warn } from "./check.ts";
import { emptiedControl } from "./emptied-control.ts";
import { namesIn } from "./kept-files.ts";
import { lookInto } from "./open-to-look.ts";
import { unreadableStore, unsoundStore } from "./unreadable-store.ts";

interface StoreWords {
  name: StoreName;
  /** What puts a file right that is damaged. */
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
      const file = join(examined.dataDir, words.name);
      const stats = statSync(file, { throwIfNoEntry: false });
      if (stats === undefined) return [absent(examined.dataDir, file, words)];
      if (!stats.isFile())
        return [fail(`${file} is not a file`, `Move it elsewhere: mv ${file} ${file}.elsewhere`)];
      return [contentFinding(file, examined, words), ...logFindings(file)];
    },
  };
}

/** A server makes both: one that is gone is another matter than one that was never there. */
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
  const missing = knownSteps[name].length - steps.length;
  return ok(
    missing === 0
      ? `is whole (${pragma})`
      : `is whole (${pragma}); the next start takes ${missing} steps to the present schema`,
  );
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
