/** Copies shared datasets into a folder, and a folder of datasets into an empty database, in the caller's transaction. */
import type { Publication } from "#records/publication.ts";
import type { PostgresSession } from "#store/postgres.ts";
import { openCatalogue } from "./catalogue.ts";
import { endCache, openCache } from "./dataset-cache.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { openPublications, type Publications } from "./publications.ts";
import { insertGeneration, listPublications, readShared } from "./shared-rows.ts";
import {
  checkParts,
  datasetFile,
  pullParts,
  pullStep,
  pushParts,
  pushStep,
} from "./stored-parts.ts";

/**
 * Writes the current dataset, the pinned ones, and the publications into a folder. Leaves out a damaged step.
 * @param folder new or empty folder.
 * @throws DatasetFault naming a dataset that is stored damaged.
 */
export async function fetchFolder(session: PostgresSession, folder: string): Promise<void> {
  const cache = openCache(folder);
  const { current, generations } = await readShared(session);
  for (const generation of generations) {
    if (generation.version !== current?.version && generation.pinned_at === null) continue;
    const path = cache.temporaryPath();
    await pullParts(session, datasetFile(generation), path);
    cache.adopt(path, generation);
  }
  if (current !== null) cache.point(current);
  endCache(folder);
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
  const path = publications.temporaryPath();
  try {
    await pullStep(session, path, from!, version);
    publications.adoptStep(path, from!, version);
  } catch (error) {
    if (!(error instanceof DatasetFault)) throw error;
  }
}

/**
 * Stores all datasets of a folder and its publications, and reads everything back.
 * @throws DatasetFault if a file, or its stored copy, does not match its facts.
 */
export async function storeFolder(session: PostgresSession, folder: string): Promise<void> {
  const catalogue = openCatalogue(folder);
  const current = catalogue.currentVersion();
  for (const generation of catalogue.list()) {
    const path = catalogue.pathOf(generation.version);
    const status = generation.published_at === null ? "staged" : "published";
    await insertGeneration(session, generation, status);
    await pushParts(session, path, datasetFile(generation));
    await checkParts(session, datasetFile(generation));
  }
  const publications = openPublications(folder);
  const noted = publications.list(current);
  for (const { from, version, step } of noted) {
    if (step === null) continue;
    // A dataset published twice after the same one has one step for both.
    const path = publications.stepPath(from!, version);
    const stored = await pushStep(session, path, from!, version);
    if (stored !== null) await checkParts(session, stored);
  }
  await session.query(insertPublicationsSql, [JSON.stringify(noted)]);
  await session.query("update dataset_state set current = $1, change = change + 1", [current]);
}

const insertPublicationsSql = `
  insert into dataset_publication (version, published_at, previous, step, facts, hash)
  select one ->> 'version', (one ->> 'published_at')::timestamptz, one ->> 'from',
    case when one ->> 'step' is not null then (one ->> 'from') || '..' || (one ->> 'version') end,
    case when one ->> 'step' is not null then one -> 'step' end, one ->> 'hash'
  from json_array_elements($1::json) with ordinality as noted (one, number) order by number`;
