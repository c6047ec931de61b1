/** What a backup says of itself: its first file, `manifest.json`. */
import { versionShape } from "#datasets/catalogue.ts";
import { type StoreName, unknownStep } from "#store/schema-steps.ts";
import { BackupFault } from "./backup-fault.ts";

/** Raised whenever an older program could misread a newer backup. */
export const backupFormat = 1;

export const manifestName = "manifest.json";

export interface ManifestFile {
  /** As in the data folder. */
  path: string;
  bytes: number;
  sha256: string;
}

export interface Manifest {
  backup_format: number;
  /** RFC 3339 UTC. */
  made_at: string;
  /** Version of the program that made it. */
  program: string;
  /** Version of the dataset in it; null where none was served. */
  dataset: string | null;
  /** Steps of the schema of each database. */
  schema: Readonly<Partial<Record<StoreName, readonly string[]>>>;
  /** All other files, in their order. */
  files: readonly ManifestFile[];
}

/** More than it ever is; a file of another kind must not fill the memory. */
export const manifestBytesMax = 1024 * 1024;

/** @throws BackupFault naming the backup, where it cannot be restored by this program. */
export function readManifest(text: string, name: string): Manifest {
  const manifest = parse(text);
  if (manifest === null)
    throw new BackupFault(`${name} is not a backup of gp-records, or its manifest is damaged.`);
  const remedy = `It was made by gp-records ${manifest.program}: restore it with that version.`;
  if (manifest.backup_format !== backupFormat)
    throw new BackupFault(
      `${name} has format ${manifest.backup_format}; this program reads format ${backupFormat}. ${remedy}`,
    );
  for (const [store, steps] of Object.entries(manifest.schema)) {
    const step = unknownStep(store as StoreName, steps);
    if (step !== undefined)
      throw new BackupFault(
        `${store} in ${name} has a schema that this version does not know ('${step}'). ${remedy}`,
      );
  }
  if (!manifest.files.every(({ path }) => mayBeRestored(path)))
    throw new BackupFault(`${name} holds files that no backup of gp-records has.`);
  return manifest;
}

/** Nothing else is written, whatever an archive says. */
const mayBeRestored = (path: string) =>
  path === "control.sqlite" ||
  path === "usage.sqlite" ||
  path === "datasets/current" ||
  versionShape.test(/^datasets\/(.+)\.(?:sqlite|json)$/.exec(path)?.[1] ?? "");

function parse(text: string): Manifest | null {
  try {
    const manifest = JSON.parse(text) as Manifest;
    const isWhole =
      Number.isInteger(manifest.backup_format) &&
      Array.isArray(manifest.files) &&
      typeof manifest.schema === "object" &&
      manifest.files.every(
        ({ path, bytes, sha256 }) =>
          typeof path === "string" && Number.isInteger(bytes) && typeof sha256 === "string",
      );
    return isWhole ? manifest : null;
  } catch {
    return null;
  }
}
