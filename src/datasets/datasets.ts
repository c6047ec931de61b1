/** What commands do with the datasets, whether they are in the folder alone or shared by several machines. */
import type { Catalogue, DatasetList } from "./catalogue.ts";
import type { GenerationCheck } from "./check-generations.ts";
import { type Choice, publishVersion, rollBack } from "./choose.ts";
import type { Generation } from "./generation.ts";
import { keepingSteps, type Warn, youngerThan } from "./keep-steps.ts";
import { pinVersion, prune, type Pruned, type PruneOrder } from "./prune.ts";
import { openPublications } from "./publications.ts";
import type { ImportRequest, ImportResult } from "./publish.ts";

/** Whoever changes anything holds the lock. Each method throws as the function of the same name does. */
export interface Datasets extends DatasetList {
  /** Until then the file at `pathOf` may be missing. */
  fetch(version: string): Promise<void>;
  importSource(request: ImportRequest): Promise<ImportResult>;
  /** @throws DatasetFault also where a running server could not read it, unless `isForced`. */
  publishVersion(choice: Choice & { isForced: boolean }): Promise<Generation>;
  rollBack(nowMilliseconds: number): Promise<Generation>;
  /** @param nowMilliseconds null unpins. */
  pinVersion(version: string, nowMilliseconds: number | null): Promise<Generation>;
  prune(order: PruneOrder): Promise<Pruned>;
  /**
   * Deletes steps, and forgets publications, that are older than CHANGES_DAYS, but for the newest one.
   * @throws an error of the system where a file cannot be deleted.
   */
  forgetSteps(nowMilliseconds: number): Promise<void>;
  /** As `checkGenerations` does, all that the files hold included. */
  check(versions: readonly string[]): AsyncIterable<GenerationCheck>;
}

interface StepKeeping {
  /** CHANGES_DAYS; with 0 no steps are written. */
  changesDays: number;
  warn: Warn;
}

/** Those of one machine. */
export function folderDatasets(folder: Catalogue, { changesDays, warn }: StepKeeping): Datasets {
  const catalogue = changesDays === 0 ? folder : keepingSteps(folder, warn);
  return {
    ...catalogue,
    async fetch() {},
    async importSource(request) {
      const { importSource } = await import("./publish.ts");
      return importSource(catalogue, request);
    },
    publishVersion: async (choice) => publishVersion(catalogue, choice),
    rollBack: async (nowMilliseconds) => rollBack(catalogue, nowMilliseconds),
    pinVersion: async (version, nowMilliseconds) => pinVersion(catalogue, version, nowMilliseconds),
    prune: async (order) => prune(catalogue, order),
    async forgetSteps(nowMilliseconds) {
      const publications = openPublications(folder.folder);
      const noted = publications.list(folder.currentVersion());
      const kept = changesDays === 0 ? [] : youngerThan(noted, changesDays, nowMilliseconds);
      if (kept.length < noted.length) publications.write(kept);
      publications.clear(kept);
    },
    async *check(versions) {
      const { checkGenerations } = await import("./check-generations.ts");
      yield* checkGenerations(catalogue, true, versions);
    },
  };
}
