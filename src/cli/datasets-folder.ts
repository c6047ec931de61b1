/** Opens the folder of datasets below DATA_DIR, alone if need be, and words what is wrong with it. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { openCatalogue, type Catalogue } from "#datasets/catalogue.ts";
import { takeLock, type Lock } from "#store/lock.ts";
import { sqliteFault } from "#store/sqlite-fault.ts";
import { CommandFault } from "./command-fault.ts";
import { exitCodes } from "./exit-codes.ts";

/** @throws CommandFault `usage` where the folder cannot be made or used. */
export function openDatasets(dataDir: string): Catalogue {
  const folder = join(dataDir, "datasets");
  try {
    makeFolder(folder);
    return openCatalogue(folder);
  } catch (error) {
    throw dataFolderFault(error, dataDir);
  }
}

/** One import at a time on a data folder: each builds on the generation before. */
export const takeImportLock = (dataDir: string): Lock =>
  takeLock(
    join(dataDir, "import.lock"),
    `Another import is running on ${dataDir}. Try again when it has ended.`,
  );

/** The error to throw for one that reading or writing below the folder threw: one line, or the same error. */
export function dataFolderFault(error: unknown, dataDir: string): unknown {
  const { code, path = dataDir, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return sqliteFault(error, dataDir);
  const advice =
    code === "ENOSPC"
      ? "Free some space on its disk"
      : "Give this user write access to it, or name another folder with DATA_DIR";
  return new CommandFault(exitCodes.usage, `${path} cannot be used (${code}). ${advice}.`);
}

// Not `recursive`: where a folder exists that takes no new ones and says ENOENT (as /proc does), Node would try for ever.
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, 0o700);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
