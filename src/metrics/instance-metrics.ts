/** Metrics of what an instance shares with others: who counts, how far behind it is, its pool and its jobs. */
import { gauge, type Labels, type Metric } from "./metric.ts";

interface Shared {
  /** All modes of counters, and the one there is now. */
  countersModes: readonly string[];
  countersMode(): string;
  /** Null without shared datasets. */
  behindSeconds(): number | null;
  /** Of the account pages; null without a database. */
  pool(): { used: number; idle: number; waiting: number } | null;
  /** All jobs that one instance does for all, and which of them this one does; null without a database. */
  jobNames: readonly string[];
  jobs(): readonly string[] | null;
}

export const instanceMetrics = (shared: Shared): Metric[] => [
  {
    name: "gp_records_counters_mode",
    type: "gauge",
    help: "1 for the counters that count requests now",
    samples: () => oneOrZero("mode", shared.countersModes, [shared.countersMode()]),
  },
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
    help: "1 for a job that this server does for all of them",
    samples: () =>
      oneOrZero("job", shared.jobs() === null ? [] : shared.jobNames, shared.jobs() ?? []),
  },
];

const oneOrZero = (label: string, names: readonly string[], present: readonly string[]) =>
  names.map((name): { labels: Labels; value: number } => ({
    labels: { [label]: name },
    value: present.includes(name) ? 1 : 0,
  }));
