/** Unpacks a backup into a folder of its own, whose files are those of the manifest, byte for byte. */
import { createHash } from "node:crypto";
import { mkdirSync, statfsSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openGeneration } from "#datasets/open-generation.ts";
import { StoreFault } from "#store/domain-error.ts";
import { type StoreName, storeNames } from "#store/schema-steps.ts";
import { controlShape, usageShape, openFile } from "#store/sqlite-file.ts";
import { sqliteFault } from "#store/store-fault.ts";
import { BackupFault, roomFault } from "./backup-fault.ts";
import { type Manifest, manifestBytesMax, manifestName, readManifest } from "./manifest.ts";
import { indexSteps } from "./steps.ts";
import { readTar, type TarReader } from "./tar.ts";

/** An archive, and its name in errors. */
export interface Archive {
  name: string;
  /** Opens the archive. Called only when needed, because nobody handles the errors of a stream that nobody reads. */
  read: () => AsyncIterable<Buffer>;
}

/**
 * Unpacks a backup. Compares files with the manifest, brings databases to the present schema, and creates missing ones.
 * @param folder empty folder on the disk of the data folder.
 * @throws BackupFault if it is no backup, is damaged or was cut off, or if this version cannot serve it.
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
  for (const store of storeNames) upgradeStore(name, folder, store);
  const { dataset, publications, program } = manifest;
  if (dataset === null) return manifest;
  refuseOtherFormat(name, join(folder, "datasets", `${dataset}.sqlite`), program);
  const paths = new Set(manifest.files.map(({ path }) => path));
  if (publications > 0) await inNameOf(name, folder, indexSteps(folder, dataset, paths));
  return manifest;
}

/** Returns the error for a damaged file. @param how completes a sentence that begins with the file. */
const damaged = (name: string, path: string, how: string) =>
  new BackupFault(`${name} cannot be restored: ${path} in it ${how}. Nothing was changed.`);

/** Adds the name of the archive to errors of reading it. */
async function inNameOf<R>(name: string, folder: string, work: Promise<R>): Promise<R> {
  try {
    return await work;
  } catch (thrown) {
    const error = roomFault(thrown, folder);
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall !== undefined || error instanceof BackupFault) throw error;
    throw new BackupFault(`${name} cannot be restored: ${message}. Nothing was changed.`);
  }
}

/** Reads the text of the manifest. Returns an empty text, which is no manifest, if the first file is another. */
async function readManifestText(reader: TarReader): Promise<string> {
  const first = await reader.next();
  if (first?.path !== manifestName || first.bytes > manifestBytesMax) return "";
  return Buffer.concat(await Array.fromAsync(reader.content())).toString();
}

function refuseFullDisk({ files }: Manifest, folder: string): void {
  const needed = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < needed)
    throw new BackupFault(
      `The disk of ${dirname(folder)} has ${bavail * bsize} bytes free; the backup needs ${needed}. Nothing was changed. Free some space.`,
      "full",
    );
}

async function writeFile(reader: TarReader, path: string): Promise<string> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const digest = createHash("sha256");
  const handle = await open(path, "wx", 0o600);
  try {
    for await (const piece of reader.content()) {
      digest.update(piece);
      await handle.writeFile(piece);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return digest.digest("hex");
}

const shapes = { "usage.sqlite": usageShape, "control.sqlite": controlShape } as const;

/** Brings a database to the present schema, or creates a missing one. */
function upgradeStore(name: string, folder: string, store: StoreName): void {
  try {
    openFile(shapes[store](folder)).close();
  } catch (thrown) {
    const error = sqliteFault(thrown, store);
    const isOfFile = error instanceof StoreFault && error.kind !== "full";
    if (!isOfFile && (thrown as NodeJS.ErrnoException).code !== "ERR_SQLITE_ERROR") throw error;
    throw damaged(name, store, `cannot be read by this version: ${(thrown as Error).message}`);
  }
}

/** Refuses another format or fold. No byte of the file has changed, so nothing else can keep it from opening. */
function refuseOtherFormat(name: string, path: string, program: string): void {
  try {
    openGeneration(path).db.close();
  } catch (error) {
    throw new BackupFault(
      `The dataset in ${name} is of a format that this version does not read. It was made by gp-records ${program}: restore it with that version.`,
      "unfit",
      { cause: error },
    );
  }
}
