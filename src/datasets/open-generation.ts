/** Opens the file of a generation for reading, and refuses one that this program cannot read. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { foldVersion } from "#records/fold.ts";
import type { Generation } from "./generation.ts";
import { DatasetFault, refuseOtherThanFile, unread } from "./dataset-fault.ts";
import { hashFile } from "./dataset-hash.ts";
import { formatVersion, type Meta } from "./format.ts";
import { arraysOf } from "./rows.ts";

/** Returns a URI that opens a file as immutable: SQLite then uses neither locks nor a journal. */
export const immutableUri = (path: string) =>
  `file:${encodeURI(path).replaceAll("?", "%3f").replaceAll("#", "%23")}?immutable=1`;

/** Remedy for an unusable current dataset. Importing every source again restores records and ids. */
export const remedy =
  "Publish another version, or remove the file `current` beside it and import every source again.";

/** Remedy if a file is as published and only its facts are wrong. */
const factsMend = "Restore the facts file from a backup, or rewrite it to match the dataset.";

/**
 * Returns the fault of an unusable dataset.
 * @param reason end of a sentence that begins with its path, without the full stop.
 */
export const refusalOf = (path: string, reason: string) =>
  new DatasetFault(`The dataset ${path} ${reason}. ${remedy}`);

interface OpenGeneration {
  db: DatabaseSync;
  meta: Meta;
}

/** Opens a generation. @throws DatasetFault that names the file and its fault. */
export function openGeneration(path: string): OpenGeneration {
  const opened = openAnyFormat(path);
  const other = otherRules(opened.meta);
  if (other === undefined) return opened;
  opened.db.close();
  throw refusalOf(path, other);
}

function openAnyFormat(path: string): OpenGeneration {
  // The path is checked first, because opening a FIFO would wait for a writer.
  const found = unread(path);
  if (found !== null) throw new DatasetFault(`${found.fault}. ${found.mend}`);
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(immutableUri(path), { readOnly: true });
    const rows = db.prepare("select key, value from meta").all();
    const meta = Object.fromEntries(rows.map(({ key, value }) => [key, value])) as unknown as Meta;
    return { db, meta };
  } catch (error) {
    db?.close();
    throw refusalOf(path, `cannot be read: ${(error as Error).message}`);
  }
}

/** Returns the names of a generation's sources, with the time of the last import that changed each. */
export const readSources = (db: DatabaseSync): [name: string, importedAt: string][] => [
  ...arraysOf<[string, string]>(db, "select name, imported_at from source"),
];

/** Reports whether a file has this program's format and fold. Returns false if the file cannot be read. */
export function isOwnFormat(path: string): boolean {
  try {
    const { db, meta } = openAnyFormat(path);
    db.close();
    return otherRules(meta) === undefined;
  } catch (error) {
    if (error instanceof DatasetFault) return false;
    throw error;
  }
}

/** Returns how the format or the fold of a file differs from this program's. Returns undefined if neither does. */
function otherRules({ format_version, fold_version }: Meta): string | undefined {
  if (format_version !== String(formatVersion)) {
    const age = Number(format_version) < formatVersion ? "an older" : "a newer";
    return `has format ${format_version}, that of ${age} gp-records; this program reads format ${formatVersion}`;
  }
  return fold_version === String(foldVersion)
    ? undefined
    : `has fold_version ${fold_version}; this program reads fold_version ${foldVersion}`;
}

/**
 * Compares the facts of a generation with its file.
 * @returns the difference in words; undefined if there is none.
 */
export function factsFault(meta: Meta, facts: Generation): string | undefined {
  const differing = (["version", "hash", "built_at"] as const).filter(
    (member) => facts[member] !== meta[member],
  );
  if (differing.length === 0) return undefined;
  return differing
    .map(
      (member) =>
        `"${member}" is ${JSON.stringify(facts[member])} instead of ${JSON.stringify(meta[member])}`,
    )
    .join(", ");
}

/**
 * Opens a generation's file and compares its facts with it.
 * @returns the difference in words; undefined if there is none, or the file has another format or fold.
 * @throws DatasetFault if the file cannot be read.
 */
export function findFactsFault(path: string, facts: Generation): string | undefined {
  const { db, meta } = openAnyFormat(path);
  db.close();
  return otherRules(meta) === undefined ? factsFault(meta, facts) : undefined;
}

/**
 * Opens the published file of a generation.
 * @param expected facts of the file in the catalogue.
 * @throws DatasetFault if the file is not the published one, its facts do not match, or it cannot be read.
 */
export function openPublished(path: string, expected: Generation): OpenGeneration {
  if (existsSync(path)) refuseOther(path, expected);
  const opened = openGeneration(path);
  const fault = factsFault(opened.meta, expected);
  if (fault === undefined) return opened;
  opened.db.close();
  throw new DatasetFault(
    `${path.replace(/sqlite$/, "json")} does not match its dataset: ${fault}. ${factsMend} ${remedy}`,
  );
}

function refuseOther(path: string, expected: Generation): void {
  refuseOtherThanFile(path);
  const { sha256, bytes } = hashFile(path);
  const other = (reason: string) =>
    refusalOf(path, `is not the file that was published: ${reason}`);
  if (sha256 !== expected.sha256) throw other("its SHA-256 differs");
  // A server does not hash the file, but would refuse it because of its size.
  if (bytes !== expected.bytes) throw other(`it has ${bytes} bytes instead of ${expected.bytes}`);
}
