/** Reads the datasets of a data folder without creating their folder or trusting what is in it. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { openCatalogue, type Catalogue } from "#datasets/catalogue.ts";
import { findBefore } from "#datasets/choose.ts";
import { lastPublished } from "#datasets/generation.ts";

export const datasetsFolder = (dataDir: string) => join(dataDir, "datasets");

/** Null where there is no such folder: opening a catalogue would create it. */
export function catalogueIn(dataDir: string): Catalogue | null {
  const folder = datasetsFolder(dataDir);
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
    ? openCatalogue(folder)
    : null;
}

/** Versions that have both their files, oldest first. */
export const wholeVersions = (catalogue: Catalogue | null): string[] =>
  catalogue === null ? [] : catalogue.versions().filter(catalogue.has);

export const factsPath = ({ folder }: Catalogue, version: string) =>
  join(folder, `${version}.json`);

/**
 * What to serve where the current dataset cannot be served: what a rollback would choose, else what was current last. A
 * dataset that was rolled back comes last.
 */
export function nextToServe(
  catalogue: Catalogue | null,
  versions = wholeVersions(catalogue),
): string | undefined {
  if (catalogue === null) return undefined;
  const before = currentVersion(catalogue) === null ? undefined : findBefore(catalogue)?.version;
  if (before !== undefined && versions.includes(before)) return before;
  return lastPublished(versions.flatMap((one) => catalogue.findReadable(one) ?? []))?.version;
}

/** Null where the pointer is not there or names nothing. */
export function currentVersion(catalogue: Catalogue | null): string | null {
  try {
    return catalogue?.currentVersion() ?? null;
  } catch {
    return null;
  }
}

/** Bytes of the largest dataset; 0 where there is none. */
export function largestDatasetBytes(dataDir: string): number {
  const catalogue = catalogueIn(dataDir);
  const sizes = wholeVersions(catalogue).map(
    (version) => statSync(catalogue!.pathOf(version)).size,
  );
  return Math.max(0, ...sizes);
}
