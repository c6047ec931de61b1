/** Lists the metrics of a server, in the order in which they are shown. */
import type { HttpDependencies } from "#http/dependencies.ts";
import { whyNotReady } from "#http/health.ts";
import { countersModes } from "#limits/open-counters.ts";
import { counter, gauge, type Metric } from "#metrics/metric.ts";
import { diskMetrics, processMetrics } from "#metrics/process-metrics.ts";
import type { Recording } from "#usage/open-recording.ts";

interface Metered {
  metrics: readonly Metric[];
}

/** Parts of a server that have metrics. */
interface Parts {
  http: HttpDependencies;
  connections: Metered;
  cache: Metered;
  datasets: Metered & { behindSeconds(): number | null };
  recording: Recording;
  failing: Metric;
  countersMode(): string;
  /** Returns null without a Valkey or Redis. */
  countersEmptied(): number | null;
  /** Null if no database is shared with other servers. */
  shared: { poolUse(): { used: number; idle: number; waiting: number } } | null;
  accountWorker: { jobs(): Readonly<Record<string, boolean>> };
  dataDir: string;
}

export const metricsOf = (parts: Parts): Metric[] => [
  gauge("gp_records_ready", "1 while queries are answered, as /ready says", () =>
    whyNotReady(parts.http) === undefined ? 1 : 0,
  ),
  ...parts.http.metrics.metrics,
  ...parts.connections.metrics,
  ...parts.cache.metrics,
  ...parts.datasets.metrics,
  ...usageMetrics(parts.recording),
  parts.failing,
  ...instanceMetrics(parts),
  ...diskMetrics(parts.dataDir),
  ...processMetrics(),
];

const usageMetrics = ({ lostCount, waiting, waitingBytesMax }: Recording) => [
  gauge(
    "gp_records_usage_queue_requests",
    "Requests whose record waits to be saved",
    () => waiting().requests,
  ),
  gauge("gp_records_usage_queue_bytes", "Memory of these records", () => waiting().bytes),
  gauge("gp_records_usage_queue_max_bytes", "Memory they may take", () => waitingBytesMax),
  counter(
    "gp_records_usage_lost_total",
    "Requests whose record was given up because it could not be saved",
    lostCount,
  ),
];

/** Returns the metrics of an instance among others: who counts, how far behind it is, its pool and its jobs. */
const instanceMetrics = ({
  countersMode,
  countersEmptied,
  datasets,
  shared,
  accountWorker,
}: Parts): Metric[] => [
  {
    name: "gp_records_counters_mode",
    type: "gauge",
    help: "1 for the counters that count requests now",
    samples: () =>
      countersModes.map((mode) => ({
        labels: { mode },
        value: Number(mode === countersMode()),
      })),
  },
  counter(
    "gp_records_counters_emptied_total",
    "How often the Valkey or Redis that counts was found to have lost all counts",
    countersEmptied,
  ),
  gauge(
    "gp_records_dataset_behind_seconds",
    "How long this server has not known that it serves what all servers are to serve",
    datasets.behindSeconds,
  ),
  {
    name: "gp_records_database_pool_connections",
    type: "gauge",
    help: "Connections of the account pages to PostgreSQL, by whether they are in use",
    *samples() {
      if (shared === null) return;
      const { used, idle } = shared.poolUse();
      yield { labels: { state: "used" }, value: used };
      yield { labels: { state: "idle" }, value: idle };
    },
  },
  gauge(
    "gp_records_database_pool_waiting",
    "Calls that wait for one of these connections",
    () => shared?.poolUse().waiting ?? null,
  ),
  {
    name: "gp_records_jobs",
    type: "gauge",
    help: "1 for a job that this server does for all of them, 0 for one that another does",
    samples: () =>
      // Not `job`, which Prometheus gives to every sample.
      Object.entries(shared === null ? {} : accountWorker.jobs()).map(([name, isOurs]) => ({
        labels: { name },
        value: Number(isOurs),
      })),
  },
];

const reportedParts = ["keys", "counts", "usage"] as const;
/** Parts that report the beginning and the end of a failure. */
export type FailingPart = (typeof reportedParts)[number];

/** @param isDatasetServed reports whether the folder's current dataset is the served one. */
export function openFailingParts(isDatasetServed: () => boolean) {
  const values = new Map(reportedParts.map((part) => [part, 0]));
  return {
    name: "gp_records_failing",
    type: "gauge" as const,
    help: "1 while this part of the service cannot do its work",
    *samples() {
      for (const [part, value] of values) yield { labels: { part }, value };
      yield { labels: { part: "dataset" }, value: isDatasetServed() ? 0 : 1 };
    },
    set: (part: FailingPart, isFailing: boolean) => void values.set(part, isFailing ? 1 : 0),
  };
}
