/** Unpacks a backup into a folder, and holds every file against the manifest before anybody uses one. */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BackupFault, roomFault } from "./backup-fault.ts";
import {
  type Manifest,
  manifestBytesMax,
  type ManifestFile,
  manifestName,
  readManifest,
} from "./manifest.ts";
import { readTar, type TarReader } from "./tar.ts";

/** An archive, and how to call it in errors. */
export interface Archive {
  name: string;
  /** Not before it is needed: a stream that nobody reads has nobody to hear of its faults. */
  read: () => AsyncIterable<Buffer>;
}

/**
 * @param onManifest hears what is coming before anything is written; may throw.
 * @throws BackupFault where it is no backup, is damaged or was cut off.
 */
export async function unpack(
  { name, read }: Archive,
  folder: string,
  onManifest: (manifest: Manifest) => void,
): Promise<Manifest> {
  const reader = readTar(read());
  const inWords = async <R>(work: Promise<R>): Promise<R> => {
    try {
      return await work;
    } catch (thrown) {
      const error = roomFault(thrown, folder);
      const { syscall, message } = error as NodeJS.ErrnoException;
      if (syscall !== undefined || error instanceof BackupFault) throw error;
      throw new BackupFault(`${name} cannot be restored: ${message}. Nothing was changed.`);
    }
  };
  const manifest = await readManifest(await inWords(readManifestText(reader)), name);
  onManifest(manifest);
  for (const file of manifest.files) {
    const entry = await inWords(reader.next());
    if (entry?.path !== file.path || entry.bytes !== file.bytes)
      throw damaged(name, file.path, "is not what its manifest names");
    const sha256 = await inWords(writeFile(reader, join(folder, file.path)));
    if (sha256 !== file.sha256) throw damaged(name, file.path, "is damaged: its SHA-256 differs");
  }
  if ((await inWords(reader.next())) !== null)
    throw new BackupFault(`${name} holds more than its manifest names. Nothing was changed.`);
  return manifest;
}

/** @param how the end of a sentence that begins with the file. */
export const damaged = (name: string, path: ManifestFile["path"], how: string) =>
  new BackupFault(`${name} cannot be restored: ${path} in it ${how}. Nothing was changed.`);

/** Empty where the first file is another: an empty text is no manifest. */
async function readManifestText(reader: TarReader): Promise<string> {
  const first = await reader.next();
  if (first?.path !== manifestName || first.bytes > manifestBytesMax) return "";
  return Buffer.concat(await Array.fromAsync(reader.content())).toString();
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
