/** Makes a backup of an installation while its servers run, to a file (whole or not at all) or to a stream. */
import { createHash } from "node:crypto";
import {
  closeSync,
  copyFileSync,
  createReadStream,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { type Catalogue, openCatalogue } from "#datasets/catalogue.ts";
import { checkGeneration } from "#datasets/check-generations.ts";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { hashFile } from "#datasets/dataset-hash.ts";
import type { Generation } from "#datasets/generation.ts";
import { openPublications, type Publications } from "#datasets/publications.ts";
import type { Publication } from "#records/publication.ts";
import { schemaSteps, type StoreName, storeNames } from "#store/sqlite-file.ts";
import { sqliteFault } from "#store/store-fault.ts";
import { syncPath } from "#store/whole-file.ts";
import { BackupFault, roomFault } from "./backup-fault.ts";
import type { Installation } from "./endings.ts";
import {
  backupFormat,
  type Manifest,
  manifestBytesMax,
  type ManifestFile,
  manifestName,
  stepPaths,
} from "./manifest.ts";
import { finishRestore, withTemporaryFolder } from "./restore-folders.ts";
import { requestTables } from "./stored-tables.ts";
import { type Content, type Sink, type Written, writeTar } from "./tar.ts";

interface BackupOrder extends Installation {
  /** Version of this program. */
  program: string;
  /** Milliseconds since 1970. */
  now: number;
  /** True for a backup of only accounts, keys, people and the audit log. */
  isControlOnly: boolean;
  /** True if the backup includes the request log. Ignored if `isControlOnly` is true. */
  hasRequests: boolean;
}

/**
 * Writes a backup to a file.
 * @param mayReplace true to replace an existing file of this name.
 * @throws DatasetFault, a DomainError or Node's own error if the backup cannot be made. No new file is left behind.
 */
export function backupToFile(order: BackupOrder, file: string, mayReplace: boolean) {
  const place = resolve(file);
  const refuseExisting = () => {
    const isFile = statSync(place, { throwIfNoEntry: false })?.isFile();
    if (isFile === false) throw new BackupFault(`No backup was made: ${file} is not a file.`);
    if (isFile && !mayReplace)
      throw new BackupFault(`${file} exists, so no backup was made. Add --force to replace it.`);
  };
  refuseExisting();
  return withTemporaryFolder(place, async (folder) => {
    const { manifest, files } = await gatherContents(order, folder);
    const unfinished = join(folder, "backup.tar");
    const handle = await open(unfinished, "wx", 0o600);
    let written: Written;
    try {
      written = await writeTar(files, order.now, (bytes) => handle.writeFile(bytes));
      await handle.sync();
    } catch (error) {
      throw roomFault(error, file);
    } finally {
      await handle.close();
    }
    refuseExisting();
    renameSync(unfinished, place);
    syncPath(dirname(place));
    return { manifest, ...written };
  });
}

/** Writes a backup to a stream. @throws as `backupToFile` does, perhaps after part of the backup was written. */
export function backupToStream(order: BackupOrder, sink: Sink) {
  return withTemporaryFolder(join(tmpdir(), "gp-records-backup"), async (folder) => {
    const { manifest, files } = await gatherContents(order, folder);
    return { manifest, ...(await writeTar(files, order.now, sink)) };
  });
}

/**
 * Gathers a backup's contents. Returns its manifest and all its files, the manifest first.
 * @param folder folder for copies of databases and steps.
 * @throws BackupFault if there is nothing to back up, a database or dataset is unfit, or the manifest is too large.
 *   Throws DatasetFault if `current` names no dataset, StoreFault if a database cannot be read or there is no room.
 */
const gatherContents = (order: BackupOrder, folder: string) =>
  contentsOf(order, folder).catch((error: unknown) => {
    throw roomFault(error, folder);
  });

async function contentsOf(order: BackupOrder, folder: string) {
  const { program, now, isControlOnly } = order;
  const hasRequests = order.hasRequests && !isControlOnly;
  const dataDir = await readableFolder(order, folder);
  const names: readonly StoreName[] = isControlOnly ? ["control.sqlite"] : storeNames;
  const taken = await Promise.all(
    names.map((name) => takeSnapshot(dataDir, name, folder, hasRequests)),
  );
  const snapshots = taken.filter((one) => one !== null);
  const { files: datasetFiles, ...datasets } = isControlOnly
    ? noDatasets
    : datasetContents(dataDir, folder);
  const files = [...snapshots.map((one) => fileContent(one, one.copy)), ...datasetFiles];
  if (files.length === 0)
    throw new BackupFault(
      `No backup was made: ${dataDir} has ${isControlOnly ? "no control.sqlite" : "neither a database nor a current dataset"}. Check DATA_DIR.`,
    );
  const manifest: Manifest = {
    backup_format: backupFormat,
    made_at: new Date(now).toISOString(),
    program,
    ...datasets,
    control_only: isControlOnly,
    requests: hasRequests,
    schema: Object.fromEntries(snapshots.map(({ path, steps }) => [path, steps])),
    files: files.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 })),
  };
  const first = textContent(manifestName, `${JSON.stringify(manifest)}\n`);
  if (first.bytes > manifestBytesMax)
    throw new BackupFault(
      `No backup was made: the list of ${manifest.publications.length} publications is too long for a backup. Set CHANGES_DAYS to fewer days and run 'gp-records datasets prune'.`,
    );
  return { manifest, files: [first, ...files] };
}

/** Finishes a killed restore and returns the data folder. With PostgreSQL, returns a copy in `temporary` instead. */
async function readableFolder(
  { dataDir, databaseUrl, isControlOnly, hasRequests }: BackupOrder,
  temporary: string,
): Promise<string> {
  if (databaseUrl === null) {
    finishRestore(dataDir);
    return dataDir;
  }
  const { writeDataFolder } = await import("./postgres.ts");
  const folder = join(temporary, "database");
  await writeDataFolder(databaseUrl, folder, { isControlOnly, hasRequests });
  return folder;
}

const noDatasets = { dataset: null, pinned: [], publications: [], files: [] };

/**
 * Gathers the current dataset, the pinned ones, and the steps of publications. Returns no files if none is current.
 * @param temporary folder for copies of the steps, because the originals may be removed meanwhile.
 */
function datasetContents(dataDir: string, temporary: string) {
  const folder = join(dataDir, "datasets");
  if (!existsSync(folder)) return noDatasets;
  const catalogue = openCatalogue(folder);
  const current = catalogue.current();
  if (current === null) return noDatasets;
  const pinned = catalogue
    .list()
    .filter(({ version, pinned_at }) => pinned_at !== null && version !== current.version);
  const publications = gatherSteps(folder, current.version, temporary);
  const stepFiles = Array.from(stepPaths(publications), (path) => {
    const copy = join(temporary, basename(path));
    return fileContent({ path, ...hashFile(copy) }, copy);
  });
  return {
    dataset: current.version,
    pinned: pinned.map(({ version }) => version),
    publications,
    files: [
      ...stepFiles,
      ...pinned.flatMap((one) => generationContents(catalogue, one)),
      ...generationContents(catalogue, current),
      // The pointer is last, as in an import, so that a dataset unpacked by hand is complete before it is named.
      textContent("datasets/current", `${current.version}\n`),
    ],
  };
}

/**
 * Copies the steps that lead to a dataset, because the originals may be removed meanwhile. Leaves out a missing or
 * incomplete step: its publication then has no step, and clients that follow changes must read everything.
 * @param folder folder of the datasets.
 * @param temporary folder for the copies, which keep their names.
 * @returns the publications for the backup; none if the list is damaged or does not lead to the dataset.
 */
function gatherSteps(folder: string, current: string, temporary: string): Publication[] {
  const publications = openPublications(folder);
  let noted: readonly Publication[] = [];
  try {
    noted = publications.list(current);
  } catch (error) {
    // A backup can do without a damaged list. Each publication warns of the damage.
    if (!(error instanceof DatasetFault)) throw error;
  }
  if (noted.at(-1)?.version !== current) return [];
  return noted.map((one) =>
    one.step !== null && copyStep(publications, one, temporary) ? one : { ...one, step: null },
  );
}

/** Copies a step. Returns false and leaves no copy if the step is missing or incomplete. */
function copyStep(
  publications: Publications,
  { from, version: to, step }: Publication,
  folder: string,
): boolean {
  const path = publications.stepPath(from!, to);
  const copy = join(folder, basename(path));
  if (existsSync(copy)) return true;
  try {
    const stored = publications.openStep(from!, to);
    if (stored?.changes !== step!.changes) return false;
    copyFileSync(path, copy);
    if (statSync(copy).size === stored.placeOf(0, stored.changes).end) return true;
  } catch (error) {
    // The step was removed meanwhile: each publication removes steps that are too old.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  rmSync(copy, { force: true });
  return false;
}

function generationContents(catalogue: Catalogue, generation: Generation): Content[] {
  const { version, bytes, sha256 } = generation;
  const { fault, mend, isCurrent } = checkGeneration(catalogue, version, false);
  const wayOut = isCurrent ? "" : ` 'gp-records datasets unpin ${version}' leaves it out.`;
  if (fault !== null) throw new BackupFault(`No backup was made: ${fault} ${mend}${wayOut}`);
  const facts = readFileSync(join(catalogue.folder, `${version}.json`), "utf8");
  return [
    fileContent({ path: `datasets/${version}.sqlite`, bytes, sha256 }, catalogue.pathOf(version)),
    textContent(`datasets/${version}.json`, facts),
  ];
}

const pieceBytes = 1024 * 1024;

const fileContent = ({ path, bytes, sha256 }: ManifestFile, place: string): Content => ({
  path,
  bytes,
  sha256,
  read: () => createReadStream(place, { highWaterMark: pieceBytes }),
});

function textContent(path: string, text: string): Content {
  const bytes = Buffer.from(text);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return {
    path,
    bytes: bytes.length,
    sha256,
    async *read() {
      yield bytes;
    },
  };
}

const busyMilliseconds = 5000;
/** Number of pages copied at once: all, under one read lock. A copy with pauses would start again after each write. */
const pagesAtOnce = 2 ** 31 - 1;

/**
 * Copies a database as it is at one moment, while others keep reading and writing it.
 * @param folder folder for the copy, which only its owner may read.
 * @returns the copy and the steps of its schema; null if there is no database.
 * @throws BackupFault if the database is damaged, or is an empty control store. Throws StoreFault if it cannot be read.
 */
async function takeSnapshot(
  dataDir: string,
  name: StoreName,
  folder: string,
  hasRequests: boolean,
) {
  const file = join(dataDir, name);
  // Unlike existsSync, this throws if the user may not enter the folder, instead of reporting a missing file.
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return null;
  const copy = join(folder, name);
  try {
    await copyDatabase(file, copy);
    const steps = finishCopy(copy, { name, file, hasRequests });
    return { path: name, copy, steps, ...hashFile(copy) };
  } catch (error) {
    throw sqliteFault(roomFault(error, `${copy}, or beside ${file}`), file);
  }
}

/** Copies a database. Opens it for writing, but only so that closing the last connection removes its side files. */
async function copyDatabase(file: string, copy: string): Promise<void> {
  closeSync(openSync(copy, "wx", 0o600));
  using database = new DatabaseSync(file, { timeout: busyMilliseconds });
  await backup(database, copy, { rate: pagesAtOnce });
}

/**
 * Removes the request log from a copy unless it is wanted, and checks the copy. Refuses a damaged database and an empty
 * control store, because a backup of either must not replace a sound older one.
 * @returns the steps applied to the copy's schema.
 */
function finishCopy(
  copy: string,
  { name, file, hasRequests }: { name: StoreName; file: string; hasRequests: boolean },
): string[] {
  using database = new DatabaseSync(copy);
  // Keeps the copy in one file, without a write-ahead log's side files.
  database.exec("pragma journal_mode = delete; pragma synchronous = off");
  if (name === "usage.sqlite" && !hasRequests) removeRequests(database);
  const said = database.prepare("pragma quick_check(1)").get()!["quick_check"];
  if (said !== "ok")
    throw new BackupFault(
      `No backup was made, because ${file} is damaged (SQLite says: ${String(said)}). 'gp-records doctor' says how to repair it.`,
    );
  const steps = schemaSteps(database);
  // A control store without tables has lost its keys. An empty usage store may be about to be filled.
  if (name === "control.sqlite" && steps.length === 0)
    throw new BackupFault(
      `No backup was made: ${file} is empty. If the data folder is new, start the server once and make the backup again. If it is not, accounts and keys have been lost. Restore an earlier backup with 'gp-records restore FILE --replace --undo-revocations', and revoke again what was revoked since.`,
    );
  return steps;
}

/** Removes the request log and frees its pages. A new database may have no tables yet. */
function removeRequests(database: DatabaseSync): void {
  for (const table of requestTables)
    if (database.prepare("select 1 from sqlite_schema where name = ?").get(table) !== undefined)
      database.exec(`delete from ${table}`);
  database.exec("vacuum");
}
