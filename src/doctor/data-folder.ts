/** Is DATA_DIR there, a folder, and one this user may write? */
import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { MovedAway, refuseMovedFolder } from "#store/move-mark.ts";
import { type Check, fail, type Finding, ok, warn } from "./check.ts";
import { isForeign, keptFiles } from "./kept-files.ts";

export const dataFolder: Check = {
  name: "folder",
  look: ({ dataDir, config }) => [
    findingOf(dataDir),
    ...(config?.databaseUrl == null ? moveFindings(dataDir) : []),
  ],
};

function findingOf(dataDir: string): Finding {
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  if (stats === undefined) return absentFolder(dataDir);
  if (!stats.isDirectory())
    return fail(
      `DATA_DIR names ${dataDir}, which is ${stats.isFile() ? "a file" : "something else"}, not a folder`,
      "Name a folder with DATA_DIR.",
    );
  if (!isWritable(dataDir))
    return fail(
      `this user may not write ${dataDir}`,
      "Name another folder with DATA_DIR, or run gp-records as the owner of this one.",
    );
  if (isForeign(dataDir))
    return warn(
      `DATA_DIR names ${dataDir}, which does not look like a data folder of gp-records: it holds files, and none of gp-records'`,
      "Name the right folder with DATA_DIR, or an empty one; if this is the right one, go on.",
    );
  return keptFiles(dataDir).length === 1
    ? ok(`${dataDir} is empty: nothing has been imported or served yet`)
    : ok(`${dataDir} is there and can be written`);
}

function moveFindings(dataDir: string): Finding[] {
  try {
    refuseMovedFolder(dataDir);
    return [];
  } catch (error) {
    if (!(error instanceof MovedAway)) throw error;
    return [
      fail(error.message, "docs/scaling.md says how a move is finished, and how it is undone."),
    ];
  }
}

function absentFolder(dataDir: string): Finding {
  const above = nearestFolder(dataDir);
  return isWritable(above)
    ? ok(`${dataDir} is not there yet; the first import or start makes it`)
    : fail(
        `${dataDir} is not there, and this user may not make it in ${above}`,
        `Make it for the user who runs gp-records: install -d -m 0700 -o USER ${dataDir}`,
      );
}

/** The folder, or the first one above it that is there. */
export function nearestFolder(path: string): string {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
    ? path
    : nearestFolder(dirname(path));
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
