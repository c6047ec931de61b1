/** Builds a dataset in a folder of its own, the way an import does, and opens it; the other commands on such a folder. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Catalogue, clearLeftovers, openCatalogue } from "#datasets/catalogue.ts";
import * as choose from "#datasets/choose.ts";
import type { Generation } from "#datasets/generation.ts";
import { loadGeneration } from "#datasets/served.ts";
import * as pruning from "#datasets/prune.ts";
import { importSource, type ImportRequest, type ImportResult } from "#datasets/publish.ts";
import { openFolderStore, type OpenStore, type StoreOrder, type Warn } from "#datasets/store.ts";
import type { CanonicalRecord, SourceEntry } from "#records/canonical.ts";
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

/** A folder of datasets, and how commands keep steps in it; no steps if left out. */
type TestCatalogue = Catalogue & { keeping?: Pick<StoreOrder, "changesDays" | "warn"> };

/** The same folder, whose publications get steps from now on. */
export const keepingSteps = (catalogue: Catalogue, warn: Warn): TestCatalogue => ({
  ...catalogue,
  keeping: { changesDays: 400, warn },
});

/** The store that a command has at this time, with what a killed one left cleared, as by the lock. */
export function storeOf({ folder, keeping }: TestCatalogue, nowMilliseconds: number): OpenStore {
  clearLeftovers(folder);
  const none = { changesDays: 0, warn: (sentence: string) => assert.fail(sentence) };
  return openFolderStore({ folder, ...(keeping ?? none), now: () => nowMilliseconds });
}

/** What an import in a test says of itself. */
export type ImportOptions = Partial<ImportRequest>;

/** Imports entries as records of the source `own`, unless the options say otherwise. */
export function importInto(
  store: OpenStore,
  { source = "own", entries = [], ...options }: ImportOptions,
): Promise<ImportResult> {
  const guards = { rejectedMax: { lines: 0 }, suppressions: [], async rememberGps() {} };
  const usual = { ...guards, isDryRun: false, nowMilliseconds: builtAt };
  return importSource(store, { ...usual, source, entries, ...options });
}

export async function importRecords(
  catalogue: TestCatalogue,
  records: readonly unknown[],
  options: ImportOptions = {},
): Promise<ImportResult> {
  const store = storeOf(catalogue, options.nowMilliseconds ?? builtAt);
  return importInto(store, { entries: entriesOf(records), ...options });
}

export const rollBack = async (
  catalogue: TestCatalogue,
  nowMilliseconds: number,
): Promise<Generation> => choose.rollBack(storeOf(catalogue, nowMilliseconds));

/** @param choice of a staged dataset that lacks nothing, unless it says otherwise. */
export async function publishVersion(
  catalogue: TestCatalogue,
  choice: Partial<choose.Choice> & { version: string; nowMilliseconds: number },
): Promise<Generation> {
  const store = storeOf(catalogue, choice.nowMilliseconds);
  return choose.publishVersion(store, { discardsNewer: false, isForced: false, ...choice });
}

/** @param nowMilliseconds null unpins. */
export const pinVersion = async (
  catalogue: TestCatalogue,
  version: string,
  nowMilliseconds: number | null,
): Promise<Generation> =>
  storeOf(catalogue, nowMilliseconds ?? 0).pin(version, nowMilliseconds !== null);

export const prune = async (
  catalogue: TestCatalogue,
  { nowMilliseconds, ...order }: pruning.PruneOrder & { nowMilliseconds: number },
): Promise<pruning.Pruned> => pruning.prune(storeOf(catalogue, nowMilliseconds), order);

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
