/** Opens the file of a generation for reading, and refuses one this program cannot read. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { foldVersion } from "#records/fold.ts";
import type { Generation } from "./catalogue.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { hashFile } from "./file-hash.ts";
import { formatVersion, type Meta } from "./format.ts";

/** As SQLite takes a file that nobody writes: no locks, no journal. */
export const immutableUri = (path: string) =>
  `file:${encodeURI(path).replaceAll("?", "%3f").replaceAll("#", "%23")}?immutable=1`;

/** What helps where the newest dataset is of no use; ids and other sources come back with their files. */
export const remedy =
  "Publish another version, or remove the file `current` beside it and import every source again.";

/** @param reason the end of a sentence, without its full stop. */
export const refusalOf = (path: string, reason: string) =>
  new DatasetFault(`The dataset ${path} ${reason}. ${remedy}`);

export interface OpenGeneration {
  db: DatabaseSync;
  meta: Meta;
}

/** @throws DatasetFault naming the file and what is wrong with it. */
export function openGeneration(path: string): OpenGeneration {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(immutableUri(path), { readOnly: true });
    const rows = db.prepare("select key, value from meta").all();
    const meta = Object.fromEntries(rows.map(({ key, value }) => [key, value])) as unknown as Meta;
    if (meta.format_version !== String(formatVersion))
      throw refusalOf(
        path,
        `has format ${meta.format_version}; this program reads format ${formatVersion}`,
      );
    if (meta.fold_version !== String(foldVersion))
      throw refusalOf(
        path,
        `was folded by rule ${meta.fold_version}; this program folds by rule ${foldVersion}`,
      );
    return { db, meta };
  } catch (error) {
    db?.close();
    if (error instanceof DatasetFault) throw error;
    throw refusalOf(path, `cannot be read: ${(error as Error).message}`);
  }
}

/**
 * @param expected what the catalogue says of the file.
 * @throws DatasetFault where it is not the file that was published, or cannot be read.
 */
export function openPublished(path: string, expected: Generation): OpenGeneration {
  if (existsSync(path) && hashFile(path).sha256 !== expected.sha256)
    throw refusalOf(path, "is not the file that was published: its SHA-256 differs");
  return openGeneration(path);
}
