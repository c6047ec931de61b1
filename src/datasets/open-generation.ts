/** Opens the file of a generation for reading, and refuses one that this program cannot read. */
import { existsSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { foldVersion } from "#records/fold.ts";
import { formatVersion, type Generation, type Meta } from "./generation.ts";
import { DatasetFault, unread } from "./dataset-fault.ts";
import { hashFile } from "./dataset-hash.ts";

/** Returns a URI that opens a file as immutable: SQLite then uses neither locks nor a journal. */
export const immutableUri = (path: string) =>
  `file:${encodeURI(path).replaceAll("?", "%3f").replaceAll("#", "%23")}?immutable=1`;

/** Remedy for an unusable current dataset. Importing every source again restores the records. */
export const remedy =
  "Publish another dataset with 'gp-records datasets publish VERSION'. If there is none, remove the file `current` beside this one, and import every source again.";

/**
 * Returns the fault of an unusable dataset.
 * @param reason end of a sentence that begins with its path, without the full stop.
 */
export const refusalOf = (path: string, reason: string) =>
  new DatasetFault(`The dataset ${path} ${reason}. ${remedy}`);

/** Opens a generation. @throws DatasetFault that names the file and its fault. */
export function openGeneration(path: string) {
  const found = unread(path);
  if (found !== null) throw new DatasetFault(`${found.fault}. ${found.mend}`);
  let db: DatabaseSync | undefined;
  let reason: string | undefined;
  try {
    db = new DatabaseSync(immutableUri(path), { readOnly: true });
    const rows = db.prepare("select key, value from meta").all();
    const meta = Object.fromEntries(rows.map(({ key, value }) => [key, value])) as unknown as Meta;
    reason = otherRules(meta);
    if (reason === undefined) return { db, meta };
  } catch (error) {
    reason = `cannot be read: ${(error as Error).message}`;
  }
  db?.close();
  throw refusalOf(path, reason);
}

/** Returns the rows of any query as arrays, one by one. */
export function arraysOf<Row extends readonly unknown[]>(
  db: DatabaseSync,
  sql: string,
  ...values: SQLInputValue[]
): Iterable<Row> {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement.iterate(...values) as unknown as Iterable<Row>;
}

/** Returns the names of a generation's sources, with the time of the last import that changed each. */
export const readSources = (db: DatabaseSync): [name: string, importedAt: string][] => [
  ...arraysOf<[string, string]>(db, "select name, imported_at from source"),
];

/** Reports whether a file has this program's format and fold. Returns false if the file cannot be read. */
export function isOwnFormat(path: string): boolean {
  try {
    openGeneration(path).db.close();
    return true;
  } catch (error) {
    if (error instanceof DatasetFault) return false;
    throw error;
  }
}

/** Returns how the format or the fold of a file differs from this program's. Returns undefined if neither does. */
function otherRules({ format_version, fold_version }: Meta): string | undefined {
  if (format_version !== String(formatVersion)) {
    const age = Number(format_version) < formatVersion ? "an older" : "a newer";
    return `has format ${format_version} of ${age} version of gp-records; this program reads only format ${formatVersion}`;
  }
  return fold_version === String(foldVersion)
    ? undefined
    : `has text folded by rule ${fold_version} (fold_version); this program reads only rule ${foldVersion}`;
}

/**
 * Opens the published file of a generation.
 * @param expected facts of the file in the catalogue.
 * @throws DatasetFault if the file is missing or not the published one, or a system error if it cannot be read.
 */
export function openPublished(path: string, expected: Generation) {
  const other = existsSync(path) ? findFileFault(path, expected) : undefined;
  if (other !== undefined) throw refusalOf(path, other);
  return openAs(path, expected);
}

/** Opens a generation. @throws DatasetFault if its version or build time is not as given, or it cannot be read. */
export function openAs(path: string, { version, built_at }: Generation) {
  const opened = openGeneration(path);
  const { db, meta } = opened;
  if (meta.version === version && meta.built_at === built_at) return opened;
  db.close();
  throw refusalOf(path, otherFileWords(`it is dataset ${meta.version}, built at ${meta.built_at}`));
}

/**
 * Compares a file's bytes with the published ones.
 * @param expected facts of the file in the catalogue.
 * @returns the difference as the end of a sentence that begins with the file's path; undefined if there is none.
 */
export function findFileFault(path: string, expected: Generation): string | undefined {
  const { sha256, bytes } = hashFile(path);
  // A server does not hash the file, but would refuse it because of its size.
  if (bytes !== expected.bytes) return otherSizeWords(bytes, expected);
  return sha256 === expected.sha256 ? undefined : otherFileWords("its SHA-256 differs");
}

/** Returns the end of a sentence that begins with the path of a file other than the published one. */
export const otherFileWords = (reason: string) => `is not the file that was published: ${reason}`;

export const otherSizeWords = (bytes: number, expected: Generation) =>
  otherFileWords(`it has ${bytes} bytes instead of ${expected.bytes}`);
