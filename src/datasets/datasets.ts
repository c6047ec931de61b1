/** Operations of commands on datasets, in a folder alone or shared by several machines. */
import type { Catalogue, DatasetList } from "./catalogue.ts";
import type { GenerationCheck } from "./check-generations.ts";
import { type Choice, publishVersion, rollBack } from "./choose.ts";
import type { Generation } from "./generation.ts";
import { keepingSteps, type Warn, youngerThan } from "./keep-steps.ts";
import { pinVersion, prune, type Pruned, type PruneOrder } from "./prune.ts";
import { openPublications } from "./publications.ts";
import type { ImportRequest, ImportResult } from "./publish.ts";

/** Datasets for commands. A caller that changes anything holds the lock. Each method throws as the function of its name. */
export interface Datasets extends DatasetList {
  /** Fetches a version. Until then the file at `pathOf` may be missing. */
  fetch(version: string): Promise<void>;
  importSource(request: ImportRequest): Promise<ImportResult>;
  /** Publishes a version. @throws DatasetFault, too, if a running server could not read it, unless `isForced`. */
  publishVersion(choice: Choice & { isForced: boolean }): Promise<Generation>;
  rollBack(nowMilliseconds: number): Promise<Generation>;
  /** Pins or unpins a version. @param nowMilliseconds null unpins. */
  pinVersion(version: string, nowMilliseconds: number | null): Promise<Generation>;
  prune(order: PruneOrder): Promise<Pruned>;
  /**
   * Deletes steps and forgets publications older than CHANGES_DAYS, except the newest one.
   * @throws an error of the system if a file cannot be deleted.
   */
  forgetSteps(nowMilliseconds: number): Promise<void>;
  /** Checks versions as `checkGenerations`, with their whole content. */
  check(versions: readonly string[]): AsyncIterable<GenerationCheck>;
}

interface StepKeeping {
  /** CHANGES_DAYS; 0 writes no steps. */
  changesDays: number;
  warn: Warn;
}

/** Returns the datasets of one machine. */
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
