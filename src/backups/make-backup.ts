/** Makes a backup of an installation while servers run on it: into a file, whole or not at all, or into a stream. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  createReadStream,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { type Catalogue, openCatalogue } from "#datasets/catalogue.ts";
import type { Generation } from "#datasets/generation.ts";
import { hashFile } from "#datasets/file-hash.ts";
import { findFactsFault } from "#datasets/open-generation.ts";
import { syncPath } from "#store/whole-file.ts";
import { schemaSteps, type StoreName, storeNames } from "#store/schema-steps.ts";
import { sqliteFault } from "#store/store-fault.ts";
import { BackupFault, roomFault } from "./backup-fault.ts";
import { backupFormat, type Manifest, type ManifestFile, manifestName } from "./manifest.ts";
import type { Installation } from "./control-facts.ts";
import { finishRestore } from "./restore-folders.ts";
import { gatherSteps, publicationsPath } from "./steps.ts";
import { requestTables } from "./stored-tables.ts";
import { type Content, type Sink, type Written, writeTar } from "./tar.ts";
import { withTemporaryFolder } from "./temporary-folder.ts";

interface BackupOrder extends Installation {
  /** Version of this program. */
  program: string;
  /** Milliseconds since 1970. */
  now: number;
  /** Accounts, keys, people and the audit log alone. */
  isControlOnly: boolean;
  /** Whether the request log is in it. */
  hasRequests: boolean;
}

export interface MadeBackup extends Written {
  manifest: Manifest;
}

/**
 * @param mayReplace whether an existing file of this name may be replaced.
 * @throws BackupFault, DatasetFault or StoreFault if it cannot be made; no file is left behind then.
 */
export function backupToFile(
  order: BackupOrder,
  file: string,
  mayReplace: boolean,
): Promise<MadeBackup> {
  const place = resolve(file);
  const refuseExisting = () => {
    if (!mayReplace && existsSync(place))
      throw new BackupFault(`${file} is there already. Choose another name, or add --force.`);
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

/** @throws as `backupToFile` does. */
export function backupToStream(order: BackupOrder, sink: Sink): Promise<MadeBackup> {
  return withTemporaryFolder(join(tmpdir(), "gp-records-backup"), async (folder) => {
    const { manifest, files } = await gatherContents(order, folder);
    return { manifest, ...(await writeTar(files, order.now, sink)) };
  });
}

interface Contents {
  manifest: Manifest;
  /** The manifest first. */
  files: readonly Content[];
}

/**
 * @param folder for copies of the databases.
 * @throws BackupFault if there is nothing to back up or the facts about the dataset are wrong, DatasetFault if `current` names no dataset.
 */
async function gatherContents(order: BackupOrder, folder: string): Promise<Contents> {
  const { program, now, isControlOnly } = order;
  const hasRequests = order.hasRequests && !isControlOnly;
  const dataDir = await readableFolder(order, folder);
  const names: readonly StoreName[] = isControlOnly ? ["control.sqlite"] : storeNames;
  const taken = await Promise.all(
    names.map((name) => takeSnapshot(dataDir, name, folder, hasRequests)),
  );
  const snapshots = taken.filter((one) => one !== null);
  const {
    dataset,
    pinned,
    publications,
    files: datasetFiles,
  } = isControlOnly ? noDatasets : datasetContents(dataDir, folder);
  const files = [...snapshots.map((one) => fileContent(one, one.copy)), ...datasetFiles];
  if (files.length === 0)
    throw new BackupFault(`There is nothing to back up in ${dataDir}. Is DATA_DIR right?`);
  const manifest: Manifest = {
    backup_format: backupFormat,
    made_at: new Date(now).toISOString(),
    program,
    dataset,
    pinned,
    publications,
    control_only: isControlOnly,
    requests: hasRequests,
    schema: Object.fromEntries(snapshots.map(({ path, steps }) => [path, steps])),
    files: files.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 })),
  };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  return { manifest, files: [textContent(manifestName, text), ...files] };
}

/** The data folder, or one in `temporary` with what is in the database. */
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
  try {
    await writeDataFolder(databaseUrl, folder, { isControlOnly, hasRequests });
    return folder;
  } catch (error) {
    throw roomFault(sqliteFault(error, folder), folder);
  }
}

interface DatasetContents extends Pick<Manifest, "dataset"> {
  pinned: string[];
  /** How many, with their steps. */
  publications: number;
  files: Content[];
}

const noDatasets: DatasetContents = { dataset: null, pinned: [], publications: 0, files: [] };

/**
 * The dataset that is served, those that are pinned, and what publications changed.
 * @param temporary where steps are copied, as they may be removed meanwhile.
 */
function datasetContents(dataDir: string, temporary: string): DatasetContents {
  const folder = join(dataDir, "datasets");
  if (!existsSync(folder)) return noDatasets;
  const catalogue = openCatalogue(folder);
  const current = catalogue.current();
  if (current === null) return noDatasets;
  const pinned = catalogue
    .versions()
    .flatMap((version) => catalogue.findReadable(version) ?? [])
    .filter(({ version, pinned_at }) => pinned_at !== null && version !== current.version);
  const { publications, files } = stepsWithRoom(folder, current.version, temporary);
  const list = `${JSON.stringify(publications)}\n`;
  return {
    dataset: current.version,
    pinned: pinned.map(({ version }) => version),
    publications: publications.length,
    files: [
      ...files.map(({ path, copy }) => fileContent({ path, ...hashFile(copy) }, copy)),
      ...(publications.length > 0 ? [textContent(publicationsPath, list)] : []),
      ...pinned.flatMap((one) => pinnedContents(catalogue, one)),
      ...generationContents(catalogue, current),
      // Last, as in an import: unpacked by hand, the dataset is complete before the pointer names it.
      textContent("datasets/current", `${current.version}\n`),
    ],
  };
}

function stepsWithRoom(...[folder, current, temporary]: Parameters<typeof gatherSteps>) {
  try {
    return gatherSteps(folder, current, temporary);
  } catch (error) {
    throw roomFault(error, temporary);
  }
}

/** Since it is not served, another remedy helps than for the dataset that is. */
function pinnedContents(catalogue: Catalogue, generation: Generation): Content[] {
  const { version } = generation;
  try {
    return generationContents(catalogue, generation);
  } catch (cause) {
    throw new BackupFault(
      `No backup was made: the pinned dataset ${version} is not as published. 'gp-records datasets verify ${version}' says what is wrong with it; 'gp-records datasets unpin ${version}' leaves it out.`,
      "unfit",
      { cause },
    );
  }
}

function generationContents(catalogue: Catalogue, generation: Generation): Content[] {
  refuseWrongFacts(catalogue, generation);
  const { version, bytes, sha256 } = generation;
  const facts = readFileSync(join(catalogue.folder, `${version}.json`), "utf8");
  return [
    fileContent({ path: `datasets/${version}.sqlite`, bytes, sha256 }, catalogue.pathOf(version)),
    textContent(`datasets/${version}.json`, facts),
  ];
}

/** A changed byte of the dataset's file shows while it is copied; a wrong fact about it would be copied unnoticed. */
function refuseWrongFacts({ folder, pathOf }: Catalogue, generation: Generation): void {
  const { version } = generation;
  const fault = findFactsFault(pathOf(version), generation);
  if (fault !== undefined)
    throw new BackupFault(
      `No backup was made: ${join(folder, `${version}.json`)} is not true of its file: ${fault}. \`gp-records doctor\` says what to do.`,
    );
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

interface Snapshot extends ManifestFile {
  path: StoreName;
  /** Steps that its schema has been through. */
  steps: string[];
  /** Path of the copy. */
  copy: string;
}

const busyMilliseconds = 5000;
/** All pages in one step, under one read lock: if it paused, a busy writer would make it start again for ever. */
const pagesAtOnce = 2 ** 31 - 1;

/**
 * Copies a database as it is at one moment, while others go on reading and writing it. Null if there is no such database.
 * @param folder for the copy; only its owner may read it.
 * @throws BackupFault if the database is damaged or has been emptied, StoreFault if it cannot be read.
 */
async function takeSnapshot(
  dataDir: string,
  name: StoreName,
  folder: string,
  hasRequests: boolean,
): Promise<Snapshot | null> {
  const file = join(dataDir, name);
  if (isMissing(file)) return null;
  const copy = join(folder, name);
  try {
    await copyDatabase(file, copy);
    if (name === "usage.sqlite" && !hasRequests) removeRequests(copy);
    return { path: name, copy, steps: checkCopy(copy, name, file), ...hashFile(copy) };
  } catch (error) {
    throw sqliteFault(roomFault(error, copy), file);
  }
}

/** A file in a folder that this user may not enter is not missing, though `existsSync` says so. */
function isMissing(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** Opened for writing, so that the last connection to close leaves no files beside it; nothing is written. */
async function copyDatabase(file: string, copy: string): Promise<void> {
  closeSync(openSync(copy, "wx", 0o600));
  const database = new DatabaseSync(file, { timeout: busyMilliseconds });
  try {
    await backup(database, copy, { rate: pagesAtOnce });
  } finally {
    database.close();
  }
  chmodSync(copy, 0o600);
}

/** What is removed leaves the file with the pages that it was in. One that is about to be filled has no tables. */
function removeRequests(copy: string): void {
  const database = new DatabaseSync(copy);
  try {
    database.exec("pragma journal_mode = off; pragma synchronous = off");
    for (const table of requestTables)
      if (database.prepare("select 1 from sqlite_schema where name = ?").get(table) !== undefined)
        database.exec(`delete from ${table}`);
    database.exec("vacuum");
  } finally {
    database.close();
  }
}

/** A damaged or emptied database must not take the place of an older backup that is sound. @returns its steps. */
function checkCopy(copy: string, name: StoreName, file: string): string[] {
  const database = new DatabaseSync(copy);
  try {
    // In one file, without the side files that a write-ahead log needs.
    database.exec("pragma journal_mode = delete");
    const result = String(database.prepare("pragma quick_check(1)").get()!["quick_check"]);
    if (result !== "ok")
      throw new BackupFault(
        `${file} is damaged, so no backup was made: SQLite says ${result}. Restore it from an earlier one.`,
      );
    const hasTables = database.prepare("select 1 from sqlite_schema limit 1").get() !== undefined;
    // An empty file is what is left of keys that were lost; one for usage may be about to be filled.
    if (name === "control.sqlite" && !hasTables)
      throw new BackupFault(
        `${file} is empty, so no backup was made. Restore it from an earlier one; on a folder that was never used, start the server first.`,
      );
    return schemaSteps(database);
  } finally {
    database.close();
  }
}
