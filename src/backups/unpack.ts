/** Unpacks a backup into a folder, and checks that this version can use the folder like one of its own. */
import { createHash } from "node:crypto";
import { mkdirSync, statfsSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openGeneration } from "#datasets/open-generation.ts";
import { openPublications } from "#datasets/publications.ts";
import type { Publication } from "#records/publication.ts";
import {
  fileSteps,
  openFile,
  shapeOf,
  type StoreName,
  storeNames,
  takeSteps,
} from "#store/sqlite-file.ts";
import { DomainError, sqliteCodeOf, StoreFault } from "#store/store-fault.ts";
import { BackupFault, roomFault } from "./backup-fault.ts";
import { type Manifest, manifestBytesMax, manifestName, readManifest } from "./manifest.ts";
import { readTar, type TarReader } from "./tar.ts";

export interface Archive {
  /** Name for errors. */
  name: string;
  /** Opens the archive. Call it just before reading, because nobody handles the errors of a stream that is not read. */
  read: () => AsyncIterable<Buffer>;
}

/**
 * Unpacks a backup. Compares its files with the manifest, upgrades databases to the current schema, and creates missing
 * databases. A file with the right SHA-256 was already checked when the backup was made. Only properties that depend on
 * this version, or that could affect the restored keys, are checked again.
 * @param folder empty folder on the data folder's disk.
 * @throws BackupFault if the archive is not a backup, is damaged or truncated, or cannot be served by this version.
 *   Throws StoreFault `full` if the disk has too little space.
 */
export async function unpack({ name, read }: Archive, folder: string): Promise<Manifest> {
  try {
    const reader = readTar(read());
    const manifest = await readManifest(await readManifestText(reader), name);
    refuseFullDisk(manifest, folder);
    await unpackFiles(reader, manifest, folder);
    for (const store of storeNames) upgradeStore(folder, store);
    const { dataset, program, publications } = manifest;
    if (dataset !== null)
      refuseOtherFormat(name, join(folder, "datasets", `${dataset}.sqlite`), program);
    if (publications.length > 0) adoptSteps(folder, publications);
    return manifest;
  } catch (thrown) {
    const error = roomFault(thrown, folder);
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall !== undefined || error instanceof DomainError) throw error;
    // All other messages are clauses about the archive.
    throw new BackupFault(
      `${name} cannot be restored: ${message}. Nothing was changed. Copy it here again, or restore another backup.`,
      { cause: error },
    );
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
  const words = (bytes: number) => bytes.toLocaleString("en-US");
  if (bavail * bsize < needed)
    throw new StoreFault(
      "full",
      `The backup needs ${words(needed)} bytes, but the disk of ${folder} has only ${words(bavail * bsize)} bytes free. Nothing was changed. Free some space on that disk.`,
    );
}

async function unpackFiles(reader: TarReader, { files }: Manifest, folder: string): Promise<void> {
  for (const { path, bytes, sha256 } of files) {
    const entry = await reader.next();
    if (entry?.path !== path || entry.bytes !== bytes)
      throw new Error(`${path} is missing from it, or does not match its manifest`);
    if ((await writeFile(reader, join(folder, path))) !== sha256)
      throw new Error(`${path} in it is damaged: its SHA-256 differs`);
  }
  if ((await reader.next()) !== null)
    throw new Error("it has files that its manifest does not list");
}

/** Writes the content of the reader's current file to a path. @returns the content's SHA-256. */
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

/** Upgrades or creates a database, and only then checks its schema, because older schemas lack tables. */
function upgradeStore(folder: string, store: StoreName): void {
  try {
    openFile(shapeOf(store, folder)).close();
  } catch (error) {
    // A StoreFault gives the remedy for a store in use; its cause says what is wrong with this file.
    const { cause = error } = error as Error;
    const isOfSqlite = sqliteCodeOf(cause) !== undefined;
    // A full disk or an unusable folder on this machine is not the archive's fault.
    if (error instanceof StoreFault && (error.kind === "full" || !isOfSqlite)) throw error;
    const isOfSchema = error instanceof DomainError && !isOfSqlite;
    const reason = isOfSchema ? "its schema differs from the manifest" : (cause as Error).message;
    throw new Error(`${store} in it cannot be read by this version: ${reason}`);
  }
  refuseOtherSchema(join(folder, store), store);
}

/**
 * Refuses a database with a table, index, trigger or view that is missing, differs or is unknown. A trigger could keep
 * a revocation from being written.
 */
function refuseOtherSchema(file: string, store: StoreName): void {
  using database = new DatabaseSync(file);
  using model = new DatabaseSync(":memory:");
  takeSteps(model, fileSteps[store]);
  const expected = objectsIn(model);
  const found = objectsIn(database);
  const other = [...expected.keys(), ...found.keys()].find(
    (name) => expected.get(name) !== found.get(name),
  );
  if (other !== undefined)
    throw new Error(
      `${store} in it is not what gp-records writes: its ${other} is missing, changed or added`,
    );
}

/** Returns each object's SQL, by type and name. Omits automatic indexes and statistics, which no step declares. */
const objectsIn = (database: DatabaseSync) =>
  new Map(
    database
      .prepare(
        `select type, name, sql from sqlite_schema where sql is not null and not (type = 'table'
           and name glob 'sqlite_stat?')`,
      )
      .all()
      .map(({ type, name, sql }) => [`${String(type)} "${String(name)}"`, sql]),
  );

/** Refuses a dataset of another format or fold. Its bytes are intact, so nothing else can keep it from opening. */
function refuseOtherFormat(name: string, path: string, program: string): void {
  try {
    openGeneration(path).db.close();
  } catch (error) {
    throw new BackupFault(
      `The dataset in ${name} has a format that this version does not read. Nothing was changed. The backup was made by gp-records ${program}: restore it with that version.`,
      { cause: error },
    );
  }
}

/** Writes the list of publications, and builds the indexes of the unpacked steps. */
function adoptSteps(folder: string, noted: readonly Publication[]): void {
  const publications = openPublications(join(folder, "datasets"));
  publications.write(noted);
  for (const { from, version, step } of noted)
    if (step !== null)
      publications.adoptStep(publications.stepPath(from!, version), from!, version);
}
