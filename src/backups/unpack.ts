/** Unpacks a backup into a folder, and checks that this version can use the folder like one of its own. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statfsSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Catalogue, openCatalogue } from "#datasets/catalogue.ts";
import { openGeneration } from "#datasets/open-generation.ts";
import { DomainError, StoreFault } from "#store/domain-error.ts";
import { schemaSteps, type StoreName, storeNames, fileSteps } from "#store/schema-steps.ts";
import { controlShape, usageShape, openFile, takeSteps } from "#store/sqlite-file.ts";
import { sqliteFault } from "#store/store-fault.ts";
import { BackupFault, roomFault } from "./backup-fault.ts";
import {
  type Manifest,
  manifestBytesMax,
  manifestName,
  readManifest,
  storesOf,
} from "./manifest.ts";
import { changesFolder, stepsFault } from "./steps.ts";
import { damageOf, isEmptied } from "./stored-tables.ts";
import { readTar, type TarReader } from "./tar.ts";

/** An archive and its name for errors. */
export interface Archive {
  name: string;
  /** Opens the archive. Called only when needed, because nobody handles the errors of a stream that is not read. */
  read: () => AsyncIterable<Buffer>;
}

/**
 * Unpacks a backup. Compares its files with the manifest, upgrades databases to the current schema, and creates missing
 * databases.
 * @param folder empty folder on the data folder's disk.
 * @throws BackupFault if the archive is not a backup, is damaged or truncated, or cannot be served by this version.
 *   Throws StoreFault `full` if the disk has too little space.
 */
export async function unpack({ name, read }: Archive, folder: string): Promise<Manifest> {
  const reader = readTar(read());
  const text = await inNameOf(name, folder, readManifestText(reader));
  const manifest = await readManifest(text, name);
  refuseFullDisk(manifest, folder);
  for (const file of manifest.files) {
    const entry = await inNameOf(name, folder, reader.next());
    if (entry?.path !== file.path || entry.bytes !== file.bytes)
      throw damaged(name, file.path, "is not the file that its manifest names");
    const sha256 = await inNameOf(name, folder, writeFile(reader, join(folder, file.path)));
    if (sha256 !== file.sha256) throw damaged(name, file.path, "is damaged: its SHA-256 differs");
  }
  if ((await inNameOf(name, folder, reader.next())) !== null)
    throw new BackupFault(`${name} contains more than its manifest names. Nothing was changed.`);
  for (const [store, steps] of storesOf(manifest))
    checkStore(name, join(folder, store), store, steps);
  for (const store of storeNames) upgradeStore(name, folder, store);
  checkDatasets(name, join(folder, "datasets"), manifest);
  if (manifest.publications.length > 0) {
    const fault = await inNameOf(name, folder, stepsFault(folder, manifest.publications));
    if (fault !== undefined) throw damaged(name, changesFolder, fault);
  }
  return manifest;
}

/** Returns the error for a damaged file. @param how rest of a sentence that begins with the file. */
const damaged = (name: string, path: string, how: string) =>
  new BackupFault(`${name} cannot be restored: ${path} in it ${how}. Nothing was changed.`);

/** Adds the archive's name to errors from reading the archive, but not to a DomainError or a system error. */
async function inNameOf<R>(name: string, folder: string, work: Promise<R>): Promise<R> {
  try {
    return await work;
  } catch (thrown) {
    const error = roomFault(thrown, folder);
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall !== undefined || error instanceof DomainError) throw error;
    throw new BackupFault(`${name} cannot be restored: ${message}. Nothing was changed.`);
  }
}

/** Reads the manifest's text. Returns "", which is not a manifest, if the first file is another one or too large. */
async function readManifestText(reader: TarReader): Promise<string> {
  const first = await reader.next();
  if (first?.path !== manifestName || first.bytes > manifestBytesMax) return "";
  return Buffer.concat(await Array.fromAsync(reader.content())).toString();
}

function refuseFullDisk({ files }: Manifest, folder: string): void {
  const needed = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < needed)
    throw new StoreFault(
      "full",
      `The disk of ${folder} has ${bavail * bsize} bytes free; the backup needs ${needed}. Nothing was changed. Free some space.`,
    );
}

async function writeFile(reader: TarReader, path: string): Promise<string> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const digest = createHash("sha256");
  await using handle = await open(path, "wx", 0o600);
  for await (const piece of reader.content()) {
    digest.update(piece);
    await handle.writeFile(piece);
  }
  await handle.sync();
  return digest.digest("hex");
}

/** Checks that a database is sound and that its schema has exactly the steps that the manifest lists. */
function checkStore(name: string, file: string, store: StoreName, steps: readonly string[]): void {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const damage = damageOf(database);
    if (damage !== undefined) throw damaged(name, store, `is damaged: SQLite says ${damage}`);
    if (isEmptied(database, store)) throw damaged(name, store, "is empty, so no key would work");
    if (String(schemaSteps(database)) !== String(steps))
      throw damaged(name, store, "does not have the schema that its manifest says");
  } catch (error) {
    if (error instanceof BackupFault) throw error;
    throw damaged(name, store, `cannot be read: ${(error as Error).message}`);
  } finally {
    database.close();
  }
}

const shapes = { "usage.sqlite": usageShape, "control.sqlite": controlShape } as const;

/** Upgrades or creates a database, and only then checks its tables, because older schemas lack some. */
function upgradeStore(name: string, folder: string, store: StoreName): void {
  try {
    openFile(shapes[store](folder)).close();
  } catch (thrown) {
    const error = sqliteFault(thrown, store);
    const isOfFile = error instanceof StoreFault && error.kind !== "full";
    if (!isOfFile && (thrown as NodeJS.ErrnoException).code !== "ERR_SQLITE_ERROR") throw error;
    throw damaged(name, store, `cannot be read by this version: ${(thrown as Error).message}`);
  }
  using database = new DatabaseSync(join(folder, store));
  // Usage values are not checked: they are counts and texts that are only shown, and there may be millions.
  const hasValues = store === "control.sqlite";
  const fault = schemaFault(database, store) ?? (hasValues ? valueFault(database) : undefined);
  if (fault !== undefined) throw damaged(name, store, fault);
}

function checkDatasets(name: string, folder: string, manifest: Manifest): void {
  const { dataset, pinned, program } = manifest;
  const catalogue = openCatalogue(folder);
  // A pinned dataset may have another format, because it is kept but not served.
  for (const version of pinned) checkFacts(name, catalogue, version);
  if (dataset === null) return;
  if (readFileSync(join(folder, "current"), "utf8") !== `${dataset}\n`)
    throw damaged(name, "datasets/current", `does not name ${dataset}, although its manifest does`);
  refuseOtherFormat(name, catalogue.pathOf(dataset), program);
  checkFacts(name, catalogue, dataset);
}

function checkFacts(name: string, { findReadable }: Catalogue, version: string): void {
  if (findReadable(version) === null)
    throw new BackupFault(
      `The dataset in ${name} would not be served: ${version}.json in it does not describe that dataset. Nothing was changed. Restore another backup.`,
    );
}

/** Refuses a dataset of another format or fold. Its bytes are intact, so nothing else can keep it from opening. */
function refuseOtherFormat(name: string, path: string, program: string): void {
  try {
    openGeneration(path).db.close();
  } catch (error) {
    throw new BackupFault(
      `The dataset in ${name} has a format that this version does not read. It was made by gp-records ${program}: restore it with that version.`,
      { cause: error },
    );
  }
}

/**
 * Returns the fault of the first table, index, trigger or view that is missing, different, or made by no step. The
 * fault ends a sentence that begins with the file. Returns undefined if there is none.
 * @param database database to which every step has been applied.
 */
function schemaFault(database: DatabaseSync, store: StoreName): string | undefined {
  using model = new DatabaseSync(":memory:");
  takeSteps(model, fileSteps[store]);
  const expected = objectsIn(model);
  const found = objectsIn(database);
  for (const { type, name, sql } of expected) {
    const same = found.find((one) => one.type === type && one.name === name);
    if (same === undefined) return `has no ${type} "${name}"`;
    if (same.sql !== sql)
      return `has a ${type} "${name}" that differs from the one this version creates`;
  }
  const other = found.find(({ name }) => !expected.some((one) => one.name === name));
  return other && `has an unexpected ${other.type} "${other.name}"`;
}

/** Lists all objects except SQLite's automatic indexes and its statistics, which no step declares. */
const objectsIn = (database: DatabaseSync) =>
  database
    .prepare(
      `select type, name, sql from sqlite_schema where sql is not null and not (type = 'table'
         and name glob 'sqlite_stat?')`,
    )
    .all() as unknown as { type: string; name: string; sql: string }[];

/** Storage class for each column type in the steps. SQLite does not enforce the types themselves. */
const storageOf: Readonly<Record<string, string>> = {
  text: "text",
  integer: "integer",
  smallint: "integer",
  bigint: "integer",
  real: "real",
  bytea: "blob",
};

/**
 * Returns the fault of a value whose type is not its column's, or of a reference to a missing row. The fault ends a
 * sentence that begins with the file. Returns undefined if there is none. Reads every row, so it is for small
 * databases.
 * @param database database without a `schemaFault`.
 */
function valueFault(database: DatabaseSync): string | undefined {
  for (const { name: table } of objectsIn(database).filter(({ type }) => type === "table"))
    for (const column of database
      .prepare("select name, type from pragma_table_xinfo(?)")
      .all(table)) {
      const { name, type } = column as { name: string; type: string };
      const storage = storageOf[type.toLowerCase()];
      if (storage === undefined) continue;
      const wrong = database
        .prepare(
          `select 1 from ${quoted(table)} where typeof(${quoted(name)}) not in (?, 'null') limit 1`,
        )
        .get(storage);
      if (wrong !== undefined)
        return `has a value in "${table}"."${name}" that is not of type ${type}`;
    }
  const lost = database.prepare("pragma foreign_key_check").get();
  return lost && `has a row in "${String(lost["table"])}" that refers to a missing row`;
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
