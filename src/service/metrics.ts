/** The metrics of a server, in the order in which they are shown. */
import type { HttpDependencies } from "#http/dependencies.ts";
import { whyNotReady } from "#http/health.ts";
import { countersModes } from "#limits/open-counters.ts";
import { diskMetrics } from "#metrics/disk-metrics.ts";
import { instanceMetrics } from "#metrics/instance-metrics.ts";
import { counter, gauge, type Metric } from "#metrics/metric.ts";
import { processMetrics } from "#metrics/process-metrics.ts";
import type { Recording } from "#usage/recording.ts";

interface Metered {
  metrics: readonly Metric[];
}

/** The parts of a server, as far as they are measured. */
interface Parts {
  http: HttpDependencies;
  connections: Metered;
  cache: Metered;
  datasets: Metered & { behindSeconds(): number | null };
  recording: Recording;
  failing: Metric;
  countersMode(): string;
  /** Null without a Valkey or Redis. */
  countersEmptied(): number | null;
  /** Null where there is no other server. */
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
  ...instanceMetrics({
    countersModes,
    countersMode: parts.countersMode,
    countersEmptied: parts.countersEmptied,
    behindSeconds: parts.datasets.behindSeconds,
    pool: () => parts.shared?.poolUse() ?? null,
    jobs: () => (parts.shared === null ? {} : parts.accountWorker.jobs()),
  }),
  ...diskMetrics(parts.dataDir),
  ...processMetrics(),
];

const usageMetrics = ({ lostCount, waiting, waitingBytesMax }: Recording) => [
  gauge(
    "gp_records_usage_queue_requests",
    "Requests whose record waits to be saved",
    () => waiting().requests,
  ),
  gauge("gp_records_usage_queue_bytes", "Memory that they take", () => waiting().bytes),
  gauge("gp_records_usage_queue_max_bytes", "Memory that they may take", () => waitingBytesMax),
  counter(
    "gp_records_usage_lost_total",
    "Requests whose record was given up because it could not be saved",
    lostCount,
  ),
];
