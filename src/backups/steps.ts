/** The publications of a dataset and the steps between them, as files of a backup. */
import { copyFileSync } from "node:fs";
import { basename, join } from "node:path";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { versionShape } from "#datasets/generation.ts";
import { openPublications, type Publications } from "#datasets/publications.ts";
import type { Publication } from "#records/publication.ts";

/** Their folder in a data folder. */
const changesFolder = "datasets/changes";
export const publicationsPath = `${changesFolder}/publications.json`;

const version = versionShape.source.slice(1, -1);
const stepShape = new RegExp(`^${changesFolder}/changes-${version}\\.\\.${version}\\.ndjson$`);

/** Reports whether a backup may hold a step under this path. */
export const isStepPath = (path: string): boolean => stepShape.test(path);

/** Publications that lead to a dataset, as a backup has them. */
interface GatheredSteps {
  publications: readonly Publication[];
  /** Paths in the backup and of the copy. */
  files: readonly { path: string; copy: string }[];
}

/**
 * Copies the steps, because they may be removed meanwhile. Leaves out a missing step; its publication then has none, and
 * clients that follow read all records again.
 * @param folder folder of the datasets. @param temporary folder for the copies.
 */
export function gatherSteps(folder: string, current: string, temporary: string): GatheredSteps {
  const publications = openPublications(folder);
  const noted = listOf(publications, current);
  if (noted.at(-1)?.version !== current) return { publications: [], files: [] };
  const copies = new Map<string, string | null>();
  const listed = noted.map((one): Publication => {
    if (one.step === null) return one;
    const path = publications.stepPath(one.from!, one.version);
    const name = basename(path);
    const copy = join(temporary, name);
    if (!copies.has(name)) copies.set(name, copyStep(path, copy) ? copy : null);
    return copies.get(name) === null ? { ...one, step: null } : one;
  });
  const files = [...copies].flatMap(([name, copy]) =>
    copy === null ? [] : { path: `${changesFolder}/${name}`, copy },
  );
  return { publications: listed, files };
}

/** Lists publications. Returns none if the list is damaged: that prevents no backup, and each publication warns of it. */
function listOf(publications: Publications, current: string): readonly Publication[] {
  try {
    return publications.list(current);
  } catch (error) {
    if (error instanceof DatasetFault) return [];
    throw error;
  }
}

/** Copies a step. Returns false if it is missing. */
function copyStep(path: string, copy: string): boolean {
  try {
    copyFileSync(path, copy);
    return true;
  } catch (error) {
    // It was removed meanwhile: each publication removes steps that are too old.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/**
 * Makes the index of each unpacked step.
 * @param dataDir data folder that the backup was unpacked into.
 * @param paths paths of the files in the backup.
 * @throws Error if the list is damaged, or names a step that the backup lacks.
 */
export async function indexSteps(
  dataDir: string,
  current: string,
  paths: ReadonlySet<string>,
): Promise<void> {
  const publications = openPublications(join(dataDir, "datasets"));
  for (const { from, version: to, step } of publications.list(current)) {
    if (step === null) continue;
    // A backup has no step elsewhere, so a version in the list cannot lead to another place.
    if (!paths.has(`${changesFolder}/changes-${from}..${to}.ndjson`))
      throw new Error(`it lacks the step ${from}..${to}`);
    publications.adoptStep(publications.stepPath(from!, to), from!, to);
  }
}
