/** The datasets of a data folder, looked at without making their folder or trusting what is in it. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { openCatalogue, type Catalogue } from "#datasets/catalogue.ts";

export const datasetsFolder = (dataDir: string) => join(dataDir, "datasets");

/** Null where there is no such folder: a catalogue would make it. */
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

/** The newest dataset that was the current one before, so that it may be so again. */
export const newestPublished = (
  catalogue: Catalogue | null,
  versions = wholeVersions(catalogue),
): string | undefined =>
  versions.findLast((version) => (catalogue!.findReadable(version)?.published_at ?? null) !== null);

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
