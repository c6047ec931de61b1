/** Opens the folder of datasets below DATA_DIR, under the import lock if needed, and puts its errors into words. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { finishRestore } from "#backups/restore-folders.ts";
import { readConfig } from "#config.ts";
import { type Catalogue, type DatasetList, openCatalogue } from "#datasets/catalogue.ts";
import type { Datasets } from "#datasets/datasets.ts";
import { isNoRoom } from "#datasets/disk-space.ts";
import { isRunning, type Lock, takeLock } from "#store/lock.ts";
import { makePrivateFolder } from "#store/sqlite-file.ts";
import { sqliteFault } from "#store/store-fault.ts";
import type { CliContext } from "./command.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";

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
 * @throws DomainError `busy` naming the process that holds it.
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

export const noDataset = "There is no dataset yet; 'gp-records import' makes one.";

/** The version that was named, else the current one. @throws CommandFault where there is none. */
export function chosenVersion(datasets: DatasetList, named: string | undefined): string {
  const version = named ?? datasets.currentVersion();
  if (version === null) throw new CommandFault(exitCodes.conflict, noDataset);
  return version;
}

type Work<R> = (datasets: Datasets) => R | Promise<R>;

/** Reads the datasets without taking the import lock. */
export const lookAtDatasets = <R>(context: CliContext, look: Work<R>): Promise<R> =>
  withDatasets(context, look, false);

/** Runs a change of the datasets under the import lock. */
export const changeDatasets = <R>(context: CliContext, change: Work<R>): Promise<R> =>
  withDatasets(context, change, true);

async function withDatasets<R>(context: CliContext, work: Work<R>, isChange: boolean): Promise<R> {
  const { dataDir, databaseUrl, changesDays } = readConfig(context.environment);
  const warn = (sentence: string) => context.reportError(`warning: ${sentence}.`);
  const catalogue = openDatasets(dataDir);
  // With a database the lock is there, and holds for all machines.
  const isOwnLock = isChange && databaseUrl === null;
  const lock = isOwnLock ? takeImportLock(dataDir, context.now()) : null;
  try {
    // Loaded here, for a server needs neither; the second one brings the driver of PostgreSQL.
    if (databaseUrl === null) {
      const { folderDatasets } = await import("#datasets/datasets.ts");
      return await work(folderDatasets(catalogue, { changesDays, warn }));
    }
    const { withSharedDatasets } = await import("#datasets/shared-datasets.ts");
    const order = { url: databaseUrl, folder: catalogue.folder, isChange, changesDays, warn };
    return await withSharedDatasets(order, work);
  } catch (error) {
    throw dataFolderFault(error, dataDir);
  } finally {
    lock?.release();
  }
}

/**
 * The error to throw for one that reading or writing below the folder threw: a one-line fault, or the same error.
 * @param setting that names the folder.
 */
export function dataFolderFault(error: unknown, dataDir: string, setting = "DATA_DIR"): unknown {
  const { code, path = dataDir, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return sqliteFault(error, dataDir);
  if (isNoRoom(error))
    return new CommandFault(
      exitCodes.diskFull,
      `${path} cannot be written (${code}). Free some space on its disk, or lift the limit on the size of files (ulimit -f).`,
    );
  return new CommandFault(
    exitCodes.usage,
    `${path} cannot be used (${code}). Give this user write access to it, or name another folder with ${setting}.`,
  );
}

/** Who holds the import lock: a note beside the lock for whoever is refused, valid only while the lock is held. */
interface LockHolder {
  pid: number;
  /** RFC 3339. */
  since: string;
}

/** Null where there is no note, or its process is gone. */
export function readHolder(path: string): LockHolder | null {
  try {
    const holder = JSON.parse(readFileSync(path, "utf8")) as LockHolder;
    return isRunning(holder.pid) ? holder : null;
  } catch {
    return null;
  }
}

/** The note is a courtesy: a full disk must not prevent taking the lock. */
export function noteHolder(path: string, nowMilliseconds: number): void {
  const since = `${new Date(nowMilliseconds).toISOString().slice(0, 19)}Z`;
  try {
    writeFileSync(path, JSON.stringify({ pid: process.pid, since }), { mode: 0o600 });
  } catch {
    forgetHolder(path);
  }
}

export function forgetHolder(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The next holder writes it anew.
  }
}
