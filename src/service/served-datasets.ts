/** The dataset that a server answers from: the current one of its folder, which follows the shared ones of a database. */
import type { Logger } from "pino";
import { type Catalogue, currentOrNull, openCatalogue } from "#datasets/catalogue.ts";
import { type Follower, followCurrent } from "#datasets/follow-current.ts";
import type { Generation } from "#datasets/generation.ts";
import type { LoadOrder } from "#datasets/load-worker.ts";
import type { Load } from "#datasets/start-load.ts";
import type { SharedDatasetsLink } from "#datasets/start-following.ts";
import { type Metric, counter, gauge } from "#metrics/metric.ts";
import { recordCounts } from "#operations/page.ts";
import type { ReadModel } from "#search/read-model.ts";
import type { GateMemory } from "#store/postgres.ts";

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
  /**
   * Called when a dataset is taken over, with the model to answer from. Take it once for each request, and keep it for no
   * later turn of the event loop: it is closed when another one has replaced it.
   */
  onModel(model: ReadModel, from: LoadOrder): void;
  /** Returns milliseconds since 1970. */
  now(): number;
  log: Logger;
}

export async function openServedDatasets(order: ServedDatasetsOrder) {
  const { ahead, database, fetchesPinned, program, onModel, now, log } = order;
  const catalogue = openCatalogue(order.folder);
  let shared: SharedDatasetsLink | null = null;
  let loadedSeconds: number | null = null;
  let failures = 0;
  const follower: Follower = followCurrent({
    catalogue,
    ahead,
    onModel(model, from) {
      onModel(model, from);
      loadedSeconds = now() / 1000;
      const { version } = model.parts;
      shared?.noteServed(version);
      log.info({ dataset: version }, "dataset is served");
    },
    onFault(fault) {
      failures++;
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
    look: follower.look,
    /** Returns the version that should be served, or null if there is none or it cannot be read. */
    wanted: () => shared?.wanted() ?? currentOrNull(catalogue),
    /** Reports whether that version is served. */
    isWantedServed: () =>
      follower.model()?.parts.version === (shared?.wanted() ?? currentOf(catalogue)?.version),
    /** Returns the seconds since that was last known of the shared datasets, or null without a database. */
    behindSeconds: () => shared?.behindSeconds() ?? null,
    metrics: [
      ...servedMetrics(follower.model),
      gauge(
        "gp_records_dataset_published_timestamp_seconds",
        "When an import, a publication or a roll-back last named a current dataset, since 1970",
        () => secondsOf(currentOf(catalogue)?.published_at),
      ),
      gauge(
        "gp_records_dataset_loaded_timestamp_seconds",
        "When this server took over the dataset it serves, since 1970",
        () => loadedSeconds,
      ),
      counter(
        "gp_records_dataset_load_failures_total",
        "Published datasets that could not be served",
        () => failures,
      ),
    ],
    async close() {
      await Promise.all([follower.close(), shared?.close()]);
    },
  };
}

/** Returns the current dataset. Returns undefined if the folder names none; if it cannot be read, a version equal to no other. */
function currentOf(catalogue: Catalogue): Partial<Generation> | undefined {
  try {
    return catalogue.current() ?? undefined;
  } catch {
    return { version: "" };
  }
}

const secondsOf = (time: string | null | undefined) =>
  time === undefined || time === null ? null : Date.parse(time) / 1000;

/** Returns the metrics of the served dataset: its version, age and size. @param served returns null while there is none. */
const servedMetrics = (served: () => ReadModel | null): Metric[] => [
  {
    name: "gp_records_dataset_info",
    type: "gauge",
    help: "Always 1; the label names the served dataset",
    *samples() {
      const model = served();
      if (model !== null) yield { labels: { version: model.parts.version }, value: 1 };
    },
  },
  {
    name: "gp_records_dataset_records",
    type: "gauge",
    help: "Served records, by kind",
    *samples() {
      const model = served();
      if (model === null) return;
      for (const [kind, value] of Object.entries(recordCounts(model)))
        yield { labels: { kind }, value };
    },
  },
  gauge(
    "gp_records_dataset_updated_timestamp_seconds",
    "When the served dataset was built, since 1970",
    () => secondsOf(served()?.parts.updatedAt),
  ),
];
