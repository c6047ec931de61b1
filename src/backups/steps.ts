/** Publications that lead to a dataset, and the steps between them, as a backup contains them. */
import { copyFileSync, existsSync, readSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { openPublications, type Publications } from "#datasets/publications.ts";
import type { Publication } from "#records/publication.ts";
import { openForBlock } from "#store/whole-file.ts";

/** Folder of the steps, relative to the data folder. */
export const changesFolder = "datasets/changes";

/** Lists the paths of the steps in a backup. Publications of a dataset after the same predecessor share a step. */
export const stepPaths = (publications: readonly Publication[]): Set<string> =>
  new Set(
    publications.flatMap(({ from, version, step }) =>
      step === null ? [] : [`${changesFolder}/changes-${from}..${version}.ndjson`],
    ),
  );

/**
 * Copies the steps that lead to a dataset, because the originals may be removed meanwhile. Leaves out a missing or
 * incomplete step: its publication then has no step, and clients that follow changes must read everything.
 * @param folder folder of the datasets.
 * @param temporary folder for the copies, which keep their names.
 * @returns the publications for the backup; none if the list is damaged or does not lead to the dataset.
 */
export function gatherSteps(folder: string, current: string, temporary: string): Publication[] {
  const publications = openPublications(folder);
  const noted = listOf(publications, current);
  if (noted.at(-1)?.version !== current) return [];
  return noted.map((one) =>
    one.step !== null && copyStep(publications, one, temporary) ? one : { ...one, step: null },
  );
}

/** Lists publications. Returns none if the list is damaged: a backup does without it, and each publication warns. */
function listOf(publications: Publications, current: string): readonly Publication[] {
  try {
    return publications.list(current);
  } catch (error) {
    if (error instanceof DatasetFault) return [];
    throw error;
  }
}

/** Copies a step. Returns false and leaves no copy if the step is missing or incomplete. */
function copyStep(publications: Publications, publication: Publication, folder: string): boolean {
  const { from, version: to } = publication;
  const path = publications.stepPath(from!, to);
  const copy = join(folder, basename(path));
  if (existsSync(copy)) return true;
  try {
    copyFileSync(path, copy);
    if (isWhole(publications, publication, copy)) return true;
  } catch (error) {
    // The step was removed meanwhile: each publication removes steps that are too old.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  rmSync(copy, { force: true });
  return false;
}

/** Reports whether a step is complete. @param path path of the step or of its copy. */
function isWhole(
  { openStep }: Publications,
  { from, version: to, step }: Publication,
  path: string,
): boolean {
  const stored = openStep(from!, to);
  return (
    stored?.changes === step!.changes &&
    statSync(path).size === stored.placeOf(0, stored.changes).end
  );
}

/**
 * Writes the list of publications, checks the unpacked steps, and builds their indexes.
 * @param folder data folder.
 * @returns the fault as the end of a sentence; undefined if there is none.
 */
export async function stepsFault(
  folder: string,
  noted: readonly Publication[],
): Promise<string | undefined> {
  const publications = openPublications(join(folder, "datasets"));
  publications.write(noted);
  for (const one of noted) {
    if (one.step === null) continue;
    const path = publications.stepPath(one.from!, one.version);
    const name = `${one.from}..${one.version}`;
    if (!beginsAs(path, one)) return `has a step ${name} whose first line is not that of a step`;
    publications.adoptStep(path, one.from!, one.version);
    if (!isWhole(publications, one, path)) return `has a damaged step ${name}`;
  }
  return undefined;
}

const headBytesMax = 4096;

/** Reports whether a step's first line agrees with its publication. */
function beginsAs(path: string, { from, version: to, step }: Publication): boolean {
  const bytes = Buffer.alloc(headBytesMax);
  using file = openForBlock(path, "r");
  const length = readSync(file.fd, bytes, 0, headBytesMax, 0);
  const [line] = bytes.toString("utf8", 0, length).split("\n");
  const head = parseJson(line!) as { from?: unknown; to?: unknown; changes?: unknown } | null;
  return head?.from === from && head.to === to && head.changes === step!.changes;
}

/** Parses JSON. Returns null if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
