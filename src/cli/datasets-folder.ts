/** Opens an installation's datasets to read or to change them. Puts errors of its folders into words. */
import { join } from "node:path";
import { finishRestore } from "#backups/restore-folders.ts";
import { readConfig } from "#config.ts";
import { type Catalogue, type DatasetList, openCatalogue } from "#datasets/catalogue.ts";
import { isNoRoom } from "#datasets/disk-space.ts";
import { type DatasetStore, openFolderStore, type OpenStore, underLock } from "#datasets/store.ts";
import { makePrivateFolder } from "#store/sqlite-file.ts";
import { sqliteFault } from "#store/store-fault.ts";
import type { CliContext } from "./command.ts";
import { CommandFault, exitCodes, usageFault } from "./command-fault.ts";

/** Finishes an interrupted restore, and opens or makes the datasets folder. @throws CommandFault or StoreFault. */
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

export const noDataset =
  "No dataset is published yet. Publish one with 'gp-records import' or 'gp-records datasets publish'.";

/** Returns the named version, or the current one. @throws CommandFault if no version is named and none is current. */
export function chosenVersion(list: DatasetList, named: string | undefined): string {
  const version = named ?? list.currentVersion();
  if (version === null) throw new CommandFault(exitCodes.conflict, noDataset);
  return version;
}

/** Opens the datasets for some work, without taking the import lock. */
export async function lookAtDatasets<R>(
  context: CliContext,
  look: (store: OpenStore) => R | Promise<R>,
): Promise<R> {
  const { dataDir, databaseUrl, changesDays } = readConfig(context.environment);
  const { folder } = openDatasets(dataDir);
  const warn = (sentence: string) => context.reportError(`warning: ${sentence}.`);
  const order = { folder, changesDays, warn, now: context.now };
  try {
    // Loads the PostgreSQL driver only if the datasets are in a database.
    const store =
      databaseUrl === null
        ? openFolderStore(order)
        : (await import("#datasets/postgres.ts")).openPostgresStore(order, databaseUrl);
    try {
      return await look(store);
    } finally {
      store.close();
    }
  } catch (error) {
    throw dataFolderFault(error, dataDir);
  }
}

/** Changes the datasets under the import lock. */
export const changeDatasets = <R>(
  context: CliContext,
  change: (store: DatasetStore) => Promise<R>,
): Promise<R> => lookAtDatasets(context, (store) => underLock(store, () => change(store)));

/**
 * Returns the error to throw for a failure in the folder: a one-line fault for an error of the system or of SQLite,
 * otherwise the given error.
 * @param setting name of the setting or option that names the folder.
 */
export function dataFolderFault(error: unknown, dataDir: string, setting = "DATA_DIR"): unknown {
  const { code, path = dataDir, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return sqliteFault(error, dataDir);
  if (isNoRoom(error))
    return new CommandFault(
      exitCodes.diskFull,
      `${path} cannot be written (${code}). Free some space on its disk, or raise the disk quota or the limit on the size of files (ulimit -f).`,
    );
  const advice = ["ENOTDIR", "EEXIST"].includes(code ?? "")
    ? "Remove the file that is in the way of a folder"
    : "Make sure that this user may read and write there and that the disk is not failing";
  return usageFault(
    `${path} cannot be used (${code}). ${advice}, or name another folder with ${setting}.`,
  );
}
