/** The dataset that a server answers from: the current one of its folder, which follows the shared ones of a database. */
import type { Logger } from "pino";
import { type Catalogue, currentOrNull, openCatalogue } from "#datasets/catalogue.ts";
import { type Follower, followCurrent } from "#datasets/follow-current.ts";
import type { Generation } from "#datasets/generation.ts";
import type { LoadOrder } from "#datasets/load-worker.ts";
import type { Load } from "#datasets/start-load.ts";
import type { SharedDatasetsLink } from "#datasets/start-following.ts";
import { openDatasetMetrics } from "#metrics/dataset-metrics.ts";
import type { Metric } from "#metrics/metric.ts";
import { recordCounts } from "#operations/page.ts";
import type { ReadModel } from "#search/read-model.ts";
import type { GateMemory } from "#store/postgres.ts";

interface ServedDatasets {
  /** Returns the same as `Follower.model`. */
  model(): ReadModel | null;
  /** Settles once the current dataset is served or has failed to load. */
  look(): Promise<void>;
  /** Returns the version that should be served, or null if there is none or it cannot be read. */
  wanted(): string | null;
  /** Reports whether that version is served. */
  isWantedServed(): boolean;
  /** Returns the seconds since that was last known of the shared datasets, or null without a database. */
  behindSeconds(): number | null;
  metrics: readonly Metric[];
  close(): Promise<void>;
}

interface ServedDatasetsOrder {
  folder: string;
  /** Load of the current dataset, if it has already begun. */
  ahead: Load | null;
  /** Null if each server has datasets of its own. */
  database: { url: string; gateMemory: GateMemory } | null;
  /** The folder gets the pinned datasets of the database, too. */
  fetchesPinned: boolean;
  /** Version of the program, for other machines. */
  program: string;
  /** Called when a dataset is taken over, before any request is answered from it. */
  onModel(from: LoadOrder): void;
  /** Returns milliseconds since 1970. */
  now(): number;
  log: Logger;
}

export async function openServedDatasets(order: ServedDatasetsOrder): Promise<ServedDatasets> {
  const { ahead, database, fetchesPinned, program, onModel, now, log } = order;
  const catalogue = openCatalogue(order.folder);
  let shared: SharedDatasetsLink | null = null;
  const { metrics, loaded, failed } = openDatasetMetrics(
    () => factsOf(follower.model()),
    () => currentOf(catalogue)?.published_at ?? null,
  );
  const follower: Follower = followCurrent({
    catalogue,
    ahead,
    onModel({ parts }, from) {
      onModel(from);
      loaded(now());
      shared?.noteServed(parts.version);
      log.info({ dataset: parts.version }, "dataset is served");
    },
    onFault(fault) {
      failed();
      log.error({ err: fault }, "dataset cannot be served");
      const version = currentOrNull(catalogue);
      if (version !== null) shared?.mend(version);
    },
    now: () => performance.now(),
  });
  if (database !== null) {
    const { startFollowing } = await import("#datasets/start-following.ts");
    shared = startFollowing({
      ...database,
      folder: catalogue.folder,
      fetchesPinned,
      program,
      // A dataset read ahead may be served by now.
      served: follower.model()?.parts.version ?? null,
      onPointed: () => void follower.lookAnew(),
      onFault(fault) {
        if (fault === null) log.info("shared datasets cannot be followed: works again");
        else log.error({ err: fault }, "shared datasets cannot be followed");
      },
      now: () => performance.now(),
    });
  }
  return {
    model: follower.model,
    look: follower.look,
    wanted: () => shared?.wanted() ?? currentOrNull(catalogue),
    isWantedServed: () =>
      follower.model()?.parts.version === (shared?.wanted() ?? currentOf(catalogue)?.version),
    behindSeconds: () => shared?.behindSeconds() ?? null,
    metrics,
    async close() {
      await Promise.all([follower.close(), shared?.close()]);
    },
  };
}

const factsOf = (model: ReadModel | null) =>
  model && {
    version: model.parts.version,
    updatedAt: model.parts.updatedAt,
    records: recordCounts(model),
  };

/** Returns the current dataset. Returns undefined if the folder names none; if it cannot be read, a version equal to no other. */
function currentOf(catalogue: Catalogue): Partial<Generation> | undefined {
  try {
    return catalogue.current() ?? undefined;
  } catch {
    return { version: "" };
  }
}
