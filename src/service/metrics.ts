/** Lists the metrics of a server, in the order in which they are shown. */
import { type HttpDependencies, whyNotReady } from "#http/dependencies.ts";
import { countersModes } from "#limits/counters.ts";
import { counter, gauge, gaugeBy, type Metric } from "#metrics/metric.ts";
import { diskMetrics, processMetrics } from "#metrics/process-metrics.ts";
import { recordCounts } from "#operations/page.ts";
import type { Recording } from "#usage/writer.ts";

interface Metered {
  metrics: readonly Metric[];
}

/** Parts of a server that have metrics. */
interface Parts {
  http: HttpDependencies;
  connections: Metered;
  cache: Metered;
  datasets: {
    /** Returns the time when the current dataset last became current. Returns null or undefined if it is unknown. */
    publishedAt(): string | null | undefined;
    /** Returns how often a published dataset could not be served. */
    failures(): number;
    behindSeconds(): number | null;
  };
  recording: Recording;
  /** Returns the parts of the service, each with true if it cannot do its work. */
  failing(): Readonly<Record<string, boolean>>;
  countersMode(): string;
  /** Returns how often the Valkey or Redis server was found to have lost all counts. Returns null if none is used. */
  countersEmptied(): number | null;
  /** Returns the jobs that one server does for all servers, each with true if this server does it. */
  jobs(): Readonly<Record<string, boolean>>;
  dataDir: string;
}

export function metricsOf(parts: Parts): Metric[] {
  const { http, datasets, recording } = parts;
  const { model } = http;
  return [
    gauge("gp_records_ready", "1 while queries are answered, as /ready says", () =>
      whyNotReady(http) === undefined ? 1 : 0,
    ),
    ...http.metrics.metrics,
    ...parts.connections.metrics,
    ...parts.cache.metrics,
    gaugeBy(
      "gp_records_dataset_info",
      "Always 1; the label names the served dataset",
      "version",
      () => {
        const served = model();
        return served === null ? {} : { [served.parts.version]: 1 };
      },
    ),
    gaugeBy("gp_records_dataset_records", "Served records, by kind", "kind", () => {
      const served = model();
      return served === null ? {} : recordCounts(served);
    }),
    gauge(
      "gp_records_dataset_updated_timestamp_seconds",
      "When the served dataset was built, since 1970",
      () => secondsOf(model()?.parts.updatedAt),
    ),
    gauge(
      "gp_records_dataset_published_timestamp_seconds",
      "When an import, a publication or a roll-back last named a current dataset, since 1970",
      () => secondsOf(datasets.publishedAt()),
    ),
    counter(
      "gp_records_dataset_load_failures_total",
      "Published datasets that could not be served",
      datasets.failures,
    ),
    gauge(
      "gp_records_usage_queue_bytes",
      "Memory of the requests that wait to be recorded",
      () => recording.waiting().bytes,
    ),
    gauge(
      "gp_records_usage_queue_max_bytes",
      "Maximum memory of the requests that wait to be recorded",
      () => recording.waitingBytesMax,
    ),
    counter(
      "gp_records_usage_lost_total",
      "Requests that could not be recorded",
      recording.lostCount,
    ),
    gaugeBy(
      "gp_records_failing",
      "1 while this part of the service cannot do its work",
      "part",
      parts.failing,
    ),
    gaugeBy(
      "gp_records_counters_mode",
      "1 for the counters that count requests now",
      "mode",
      () => {
        const now = parts.countersMode();
        return Object.fromEntries(countersModes.map((mode) => [mode, mode === now]));
      },
    ),
    counter(
      "gp_records_counters_emptied_total",
      "Times that the server at COUNTERS_URL, or a node of its cluster, was found to have lost its counts",
      parts.countersEmptied,
    ),
    gauge(
      "gp_records_dataset_behind_seconds",
      "Time since this server was last known to serve the dataset that all servers should serve",
      datasets.behindSeconds,
    ),
    // The label is not `job`, which Prometheus adds to every sample.
    gaugeBy(
      "gp_records_jobs",
      "1 for a job that this server does for all servers, 0 for one that another does",
      "name",
      parts.jobs,
    ),
    ...diskMetrics(parts.dataDir),
    ...processMetrics(),
  ];
}

const secondsOf = (time: string | null | undefined) =>
  time === undefined || time === null ? null : Date.parse(time) / 1000;
