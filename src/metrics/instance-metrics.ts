/** Metrics of what an instance shares with others: who counts, how far behind it is, its pool and its jobs. */
import { counter, gauge, type Metric } from "./metric.ts";

interface Shared {
  /** All modes of counters, and the one there is now. */
  countersModes: readonly string[];
  countersMode(): string;
  /** Null without a Valkey or Redis. */
  countersEmptied(): number | null;
  /** Null without shared datasets. */
  behindSeconds(): number | null;
  /** Of the account pages; null without a database. */
  pool(): { used: number; idle: number; waiting: number } | null;
  /** Of the jobs that one instance does for all those that this one can do, each with whether it is this one. */
  jobs(): Readonly<Record<string, boolean>>;
}

export const instanceMetrics = (shared: Shared): Metric[] => [
  {
    name: "gp_records_counters_mode",
    type: "gauge",
    help: "1 for the counters that count requests now",
    samples: () =>
      shared.countersModes.map((mode) => ({
        labels: { mode },
        value: Number(mode === shared.countersMode()),
      })),
  },
  counter(
    "gp_records_counters_emptied_total",
    "How often the Valkey or Redis that counts was found to have lost all counts",
    () => shared.countersEmptied(),
  ),
  gauge(
    "gp_records_dataset_behind_seconds",
    "How long this server has not known that it serves what all servers are to serve",
    () => shared.behindSeconds(),
  ),
  {
    name: "gp_records_database_pool_connections",
    type: "gauge",
    help: "Connections of the account pages to PostgreSQL, by whether they are in use",
    *samples() {
      const pool = shared.pool();
      if (pool === null) return;
      yield { labels: { state: "used" }, value: pool.used };
      yield { labels: { state: "idle" }, value: pool.idle };
    },
  },
  gauge(
    "gp_records_database_pool_waiting",
    "What waits for one of these connections",
    () => shared.pool()?.waiting ?? null,
  ),
  {
    name: "gp_records_jobs",
    type: "gauge",
    help: "1 for a job that this server does for all of them, 0 for one that another does",
    samples: () =>
      // Not `job`, which Prometheus gives to every sample.
      Object.entries(shared.jobs()).map(([name, isOurs]) => ({
        labels: { name },
        value: Number(isOurs),
      })),
  },
];
