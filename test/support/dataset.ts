/** Builds a dataset in a folder of its own, the way an import does, and opens it. */
import { join } from "node:path";
import type { TestContext } from "node:test";
import { openCatalogue, type Catalogue } from "#datasets/catalogue.ts";
import { loadGeneration } from "#datasets/load.ts";
import { importSource, type ImportRequest, type ImportResult } from "#datasets/publish.ts";
import type { CanonicalRecord } from "#records/canonical.ts";
import type { SourceEntry } from "#records/source-entry.ts";
import { openReadModel, type ReadModel } from "#search/read-model.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Time at which test datasets are built, unless a test says otherwise. */
export const builtAt = Date.parse("2026-11-20T03:00:00Z");

export const temporaryCatalogue = (t: TestContext): Catalogue =>
  openCatalogue(join(temporaryFolder(t), "datasets"));

/** One entry a record, on lines 1, 2, … of `file`. */
export const entriesOf = (records: readonly unknown[], file = "records.ndjson"): SourceEntry[] =>
  records.map((record, i) => ({
    file,
    line: i + 1,
    records: [record as CanonicalRecord],
    namedGps: [],
    faults: [],
  }));

export function importRecords(
  catalogue: Catalogue,
  records: readonly unknown[],
  options: Partial<ImportRequest> = {},
): Promise<ImportResult> {
  return importSource(catalogue, {
    source: "own",
    entries: entriesOf(records),
    rejectedMax: { lines: 0 },
    isDryRun: false,
    nowMilliseconds: builtAt,
    ...options,
  });
}

export function openCurrent(catalogue: Catalogue): ReadModel {
  const generation = catalogue.current();
  if (generation === null) throw new Error("nothing is published");
  return openReadModel(loadGeneration(catalogue.pathOf(generation.version), generation));
}

export async function modelOf(t: TestContext, records: readonly unknown[]): Promise<ReadModel> {
  const catalogue = temporaryCatalogue(t);
  const result = await importRecords(catalogue, records);
  if (result.published === null)
    throw new Error(JSON.stringify(result.collected.rejections.listed));
  return openCurrent(catalogue);
}
