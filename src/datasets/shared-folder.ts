/**
 * Copies shared datasets into a folder, and a folder of datasets into an empty database, in the caller's transaction.
 */
import { join } from "node:path";
import type { Publication } from "#records/publication.ts";
import type { PostgresSession } from "#store/postgres.ts";
import { draftName, openCatalogue } from "./catalogue.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { openPublications, type Publications } from "./publications.ts";
import { listPublications, readShared } from "./shared-rows.ts";
import { checkFile, pullFile, pushDataset, pushStep, stepName } from "./stored-parts.ts";

/**
 * Writes the current dataset, the pinned ones, and the publications into a folder. Omits damaged steps.
 * @param folder new or empty folder.
 * @throws DatasetFault that names a damaged dataset.
 */
export async function fetchFolder(session: PostgresSession, folder: string): Promise<void> {
  const catalogue = openCatalogue(folder);
  const { current, generations } = await readShared(session);
  for (const generation of generations) {
    const isCurrent = generation.version === current;
    if (!isCurrent && generation.pinned_at === null) continue;
    const path = join(folder, draftName);
    await pullFile(session, generation.version, path);
    catalogue.stage(path, generation);
    if (isCurrent) catalogue.publish(generation.version, generation.published_at!);
  }
  const publications = openPublications(folder);
  const noted = await listPublications(session);
  for (const one of noted) if (one.step !== null) await fetchStep(session, publications, one);
  if (noted.length > 0) publications.write(noted);
}

async function fetchStep(
  session: PostgresSession,
  publications: Publications,
  { from, version }: Publication,
): Promise<void> {
  if (publications.openStep(from!, version) !== null) return;
  const name = stepName(from!, version);
  try {
    await publications.addStep(from!, version, (path) => pullFile(session, name, path));
  } catch (error) {
    if (!(error instanceof DatasetFault)) throw error;
  }
}

/**
 * Stores all datasets of a folder and its publications, and reads every stored file back.
 * @throws DatasetFault if a file, or its stored copy, does not match its facts.
 */
export async function storeFolder(session: PostgresSession, folder: string): Promise<void> {
  const catalogue = openCatalogue(folder);
  const current = catalogue.currentVersion();
  for (const generation of catalogue.list()) {
    const { version } = generation;
    await pushDataset(session, catalogue.pathOf(version), generation, false);
    await checkFile(session, version);
  }
  const publications = openPublications(folder);
  const noted = publications.list(current);
  for (const { from, version, step } of noted) {
    if (step === null) continue;
    // A dataset that was published twice after the same predecessor has one step for both.
    const isNew = await pushStep(session, publications.stepPath(from!, version), from!, version);
    if (isNew) await checkFile(session, stepName(from!, version));
  }
  await session.query(
    "update dataset_state set current = $1, publications = $2, change = change + 1",
    [current, JSON.stringify(noted)],
  );
}
