/** Opens the folder of datasets below DATA_DIR, alone if need be, and words what is wrong with it. */
import { join } from "node:path";
import { isNoRoom } from "#datasets/disk-space.ts";
import { finishRestore } from "#backups/restore-folders.ts";
import { openCatalogue, type Catalogue } from "#datasets/catalogue.ts";
import { takeLock, type Lock } from "#store/lock.ts";
import { makePrivateFolder } from "#store/private-folder.ts";
import { sqliteFault } from "#store/sqlite-fault.ts";
import { CommandFault } from "./command-fault.ts";
import { dataDirOf } from "./data-dir.ts";
import { exitCodes } from "./exit-codes.ts";
import { forgetHolder, noteHolder, readHolder } from "./lock-holder.ts";
import type { Surroundings } from "./surroundings.ts";

/** @throws CommandFault `usage` where the folder cannot be made or used. */
export function openDatasets(dataDir: string): Catalogue {
  const folder = join(dataDir, "datasets");
  try {
    finishRestore(dataDir);
    makePrivateFolder(folder);
    return openCatalogue(folder);
  } catch (error) {
    throw dataFolderFault(error, dataDir);
  }
}

/**
 * One import at a time on a data folder: each builds on the generation before.
 * @throws StoreFault `busy` naming the process that holds it.
 */
export function takeImportLock(dataDir: string, nowMilliseconds = Date.now()): Lock {
  const note = join(dataDir, "import.holder");
  const holder = readHolder(note);
  const who = holder === null ? "" : `: process ${holder.pid}, since ${holder.since}`;
  const lock = takeLock(
    join(dataDir, "import.lock"),
    `Another import is running on ${dataDir}${who}. Try again when it has ended.`,
  );
  noteHolder(note, nowMilliseconds);
  return {
    release() {
      forgetHolder(note);
      lock.release();
    },
  };
}

/** Runs a look at the datasets, for which nobody has to wait. */
export async function lookAtDatasets<R>(
  surroundings: Surroundings,
  look: (catalogue: Catalogue) => R | Promise<R>,
): Promise<R> {
  const dataDir = dataDirOf(surroundings);
  const catalogue = openDatasets(dataDir);
  try {
    return await look(catalogue);
  } catch (error) {
    throw dataFolderFault(error, dataDir);
  }
}

/** Runs a change of the datasets under the import lock. */
export async function changeDatasets<R>(
  surroundings: Surroundings,
  change: (catalogue: Catalogue) => R | Promise<R>,
): Promise<R> {
  const dataDir = dataDirOf(surroundings);
  const catalogue = openDatasets(dataDir);
  const lock = takeImportLock(dataDir, surroundings.now());
  try {
    return await change(catalogue);
  } catch (error) {
    throw dataFolderFault(error, dataDir);
  } finally {
    lock.release();
  }
}

/** The error to throw for one that reading or writing below the folder threw: one line, or the same error. */
export function dataFolderFault(error: unknown, dataDir: string): unknown {
  const { code, path = dataDir, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return sqliteFault(error, dataDir);
  if (isNoRoom(error))
    return new CommandFault(
      exitCodes.diskFull,
      `${path} cannot be written (${code}). Free some space on its disk, or lift the limit on the size of files (ulimit -f).`,
    );
  return new CommandFault(
    exitCodes.usage,
    `${path} cannot be used (${code}). Give this user write access to it, or name another folder with DATA_DIR.`,
  );
}
