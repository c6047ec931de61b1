/** What an operator is to be told: conditions over the metrics, looked at here and, as deploy/alerts.yml, by Prometheus. */
import type { Labels, Metric } from "#metrics/metric.ts";

export interface Alarm {
  name: string;
  /** `critical`: clients are refused, or something is being lost that they were promised. */
  severity: "critical" | "warning";
  /** What is so, and what it means. */
  summary: string;
  /** What to do first. */
  remedy: string;
  /** Anchor of the heading in docs/running.md below which more is said. */
  section: string;
  condition: Condition;
  /** How long it has to have been true. */
  holdSeconds: number;
}

/** A number, or a quotient of two, compared with a fixed one. False where a metric has no sample. */
interface Condition {
  of: Reading;
  over?: Reading;
  is: ">" | "<" | "==";
  than: number;
  /** Whether this process counts requests for itself alone; left out where that makes no difference. */
  isCountingAlone?: boolean;
}

/**
 * `value`: the one sample. `growth`: how much the samples together have grown in the last `growthSeconds`. `age`: seconds
 * since the time that the one sample is.
 */
export interface Reading {
  as: "value" | "growth" | "age";
  /** With what follows the name of a histogram. */
  metric: string;
  /** Of the samples that have these labels. */
  labels?: Labels;
}

/** The page with more about each. */
export const documentation = "https://github.com/gp-records/gp-records/blob/main/docs/running.md";
export const growthSeconds = 300;
export const countingAlone = { metric: "gp_records_counters_mode", labels: { mode: "embedded" } };

const value = (metric: string, labels?: Labels): Reading => ({
  as: "value",
  metric,
  ...(labels && { labels }),
});
const growth = (metric: string, labels?: Labels): Reading => ({
  ...value(metric, labels),
  as: "growth",
});
const fails = (part: string): Condition => ({
  of: value("gp_records_failing", { part }),
  is: "==",
  than: 1,
});
const happened = (metric: string, labels?: Labels): Condition => ({
  of: growth(metric, labels),
  is: ">",
  than: 0,
});

export const alarms: readonly Alarm[] = [
  {
    name: "GpRecordsNotReady",
    severity: "critical",
    summary: "No records are served: queries get a 503.",
    remedy:
      "Import a dataset if there is none; the log names one that cannot be read, and `gp-records doctor` what mends it.",
    section: "logs",
    condition: { of: value("gp_records_ready"), is: "==", than: 0 },
    holdSeconds: 60,
  },
  {
    name: "GpRecordsMistakes",
    severity: "critical",
    summary: "Requests were answered with a 500, by a fault of the program.",
    remedy: "Report the lines of level 50 in the log that have their `request_id`.",
    section: "logs",
    condition: happened("gp_records_requests_total", { status: "500" }),
    holdSeconds: 0,
  },
  {
    name: "GpRecordsKeysUnreadable",
    severity: "critical",
    summary: "The store of accounts and keys cannot be read: revocations and new keys wait.",
    remedy: "Look at the file or the server that the log names; no restart is needed.",
    section: "logs",
    condition: fails("keys"),
    holdSeconds: 60,
  },
  {
    name: "GpRecordsCountsUnsaved",
    severity: "critical",
    summary: "The counts of quotas cannot be written: a restart would forget them.",
    remedy: "Free the disk, or look at the path that the log names; no restart is needed.",
    section: "logs",
    condition: { ...fails("counts"), isCountingAlone: true },
    holdSeconds: 60,
  },
  {
    name: "GpRecordsCountsUnshared",
    severity: "critical",
    summary:
      "The server that counts for all instances is away: each counts by itself, or refuses requests, as COUNTERS_OUTAGE says.",
    remedy: "Look at the server that the log names; no restart is needed.",
    section: "quotas-of-several-instances",
    condition: { ...fails("counts"), isCountingAlone: false },
    holdSeconds: 60,
  },
  {
    name: "GpRecordsUsageUnsaved",
    severity: "warning",
    summary: "What was asked cannot be written, and is kept in memory.",
    remedy: "Free the disk, or look at the path or the server that the log names.",
    section: "what-was-asked",
    condition: fails("usage"),
    holdSeconds: 60,
  },
  {
    name: "GpRecordsUsageQueueHigh",
    severity: "warning",
    summary:
      "Half of the memory for requests that wait to be saved is taken: once it is full, the oldest are given up.",
    remedy: "Look at the disk, or at PostgreSQL: what is asked comes faster than it is written.",
    section: "what-was-asked",
    condition: {
      of: value("gp_records_usage_queue_bytes"),
      over: value("gp_records_usage_queue_max_bytes"),
      is: ">",
      than: 0.5,
    },
    holdSeconds: 0,
  },
  {
    name: "GpRecordsUsageLost",
    severity: "critical",
    summary: "Records of requests were given up: they are missing from totals, and from bills.",
    remedy: "Free the disk, or look at the path or the server that the log names.",
    section: "what-was-asked",
    condition: happened("gp_records_usage_lost_total"),
    holdSeconds: 0,
  },
  {
    name: "GpRecordsPoolExhausted",
    severity: "warning",
    summary:
      "Account pages wait for a connection to PostgreSQL, and after 1.5 s they are answered with a 503.",
    remedy: "Look for slow statements and locks in PostgreSQL.",
    section: "logs",
    condition: { of: value("gp_records_database_pool_waiting"), is: ">", than: 0 },
    holdSeconds: 60,
  },
  {
    name: "GpRecordsDatasetNotServed",
    severity: "warning",
    summary: "Another dataset is served than the current one.",
    remedy:
      "Run `gp-records datasets verify`, which names what mends it, or `gp-records datasets rollback`.",
    section: "logs",
    condition: fails("dataset"),
    holdSeconds: 300,
  },
  {
    name: "GpRecordsDatasetBehind",
    severity: "warning",
    summary: "The shared datasets cannot be followed: other servers may serve newer records.",
    remedy: "The log says why, and `gp-records instances` who serves what.",
    section: "datasets-of-several-machines",
    condition: { of: value("gp_records_dataset_behind_seconds"), is: ">", than: 300 },
    holdSeconds: 0,
  },
  {
    name: "GpRecordsDatasetOld",
    severity: "warning",
    summary: "For 35 days no records have been published.",
    remedy: "Look at the last import.",
    section: "the-first-month",
    condition: {
      of: { as: "age", metric: "gp_records_dataset_published_timestamp_seconds" },
      is: ">",
      than: 35 * 86_400,
    },
    holdSeconds: 0,
  },
  {
    name: "GpRecordsSlow",
    severity: "warning",
    summary: "More than one request in a hundred takes longer than 50 ms.",
    remedy: "Look at the processor, the event loop and what else runs on the machine.",
    section: "overload",
    condition: {
      of: growth("gp_records_request_duration_seconds_bucket", { le: "0.05" }),
      over: growth("gp_records_request_duration_seconds_count"),
      is: "<",
      than: 0.99,
    },
    holdSeconds: 60,
  },
  {
    name: "GpRecordsOverloaded",
    severity: "critical",
    summary: "Requests were refused because the process had too much to do or too little memory.",
    remedy: "Add an instance, or memory, or find out who asks so much.",
    section: "overload",
    condition: happened("gp_records_overload_refusals_total"),
    holdSeconds: 0,
  },
  {
    name: "GpRecordsConnectionsHigh",
    severity: "warning",
    summary: "Nine tenths of the connections that may be open are.",
    remedy: "Raise the limit of open files and CONNECTIONS_MAX, or find out who holds them.",
    section: "overload",
    condition: {
      of: value("gp_records_connections_open"),
      over: value("gp_records_connections_max"),
      is: ">",
      than: 0.9,
    },
    holdSeconds: 60,
  },
  {
    name: "GpRecordsFilesHigh",
    severity: "warning",
    summary: "Nine tenths of the files that the process may open are open.",
    remedy: "Raise its limit of open files (LimitNOFILE in its unit).",
    section: "overload",
    condition: {
      of: value("process_open_fds"),
      over: value("process_max_fds"),
      is: ">",
      than: 0.9,
    },
    holdSeconds: 60,
  },
  {
    name: "GpRecordsDiskLow",
    severity: "warning",
    summary: "Less than a tenth of the disk of DATA_DIR is free.",
    remedy: "`gp-records datasets prune` removes old datasets; or move DATA_DIR to a larger disk.",
    section: "old-datasets",
    condition: {
      of: value("gp_records_disk_free_bytes"),
      over: value("gp_records_disk_size_bytes"),
      is: "<",
      than: 0.1,
    },
    holdSeconds: 60,
  },
  {
    name: "GpRecordsKeysGuessed",
    severity: "warning",
    summary:
      "A network sent more than 30 wrong keys in a minute: somebody guesses, or has a mistake in a program.",
    remedy: "The log has the requests, with 401 and 429; wrong keys cost others nothing.",
    section: "quotas-and-clocks",
    condition: happened("gp_records_quota_refusals_total", { policy: "failed-keys" }),
    holdSeconds: 0,
  },
];

/** An alarm that began, or one that ended. */
export interface AlarmChange {
  alarm: Alarm;
  hasBegun: boolean;
}

interface AlarmWatch {
  /** Reads the metrics, and says what has changed since it last did; growth counts from the first time on. */
  look(): AlarmChange[];
  /** The alarms that have begun and not ended. */
  active(): readonly Alarm[];
}

interface Times {
  /** Monotonic milliseconds. */
  elapsed(): number;
  /** Milliseconds since 1970. */
  now(): number;
}

/** Evaluates the conditions as Prometheus does the rules of deploy/alerts.yml. */
export function watchAlarms(metrics: readonly Metric[], { elapsed, now }: Times): AlarmWatch {
  const watched = alarms.map((alarm) => ({
    alarm,
    of: openReader(metrics, alarm.condition.of, now),
    over: alarm.condition.over && openReader(metrics, alarm.condition.over, now),
    trueSince: null as number | null,
    isActive: false,
  }));

  const isTrue = ({ alarm: { condition }, of, over }: (typeof watched)[number], at: number) => {
    // Both are read each time, since growth is known only to who looked before.
    const [dividend, divisor] = [of(at), over === undefined ? 1 : over(at)];
    if (dividend === null || divisor === null) return false;
    const { is, than, isCountingAlone } = condition;
    const found = dividend / divisor;
    const holds = is === ">" ? found > than : is === "<" ? found < than : found === than;
    if (isCountingAlone === undefined) return holds;
    const { metric, labels } = countingAlone;
    return holds && sumOf(metrics, metric, labels) === Number(isCountingAlone);
  };
  return {
    look() {
      const at = elapsed();
      return watched.flatMap((one) => {
        one.trueSince = isTrue(one, at) ? (one.trueSince ?? at) : null;
        const { alarm, trueSince, isActive } = one;
        one.isActive = trueSince !== null && at - trueSince >= alarm.holdSeconds * 1000;
        return one.isActive === isActive ? [] : [{ alarm, hasBegun: one.isActive }];
      });
    },
    active: () => watched.filter(({ isActive }) => isActive).map(({ alarm }) => alarm),
  };
}

/** @returns what reads it at a moment in monotonic milliseconds; null where it cannot be known. */
function openReader(metrics: readonly Metric[], reading: Reading, now: () => number) {
  const { as, metric, labels } = reading;
  const seen: { at: number; sum: number }[] = [];
  return (at: number): number | null => {
    const sum = sumOf(metrics, metric, labels);
    if (sum === null || as === "value") return sum;
    if (as === "age") return now() / 1000 - sum;
    seen.push({ at, sum });
    while (seen[0]!.at < at - growthSeconds * 1000) seen.shift();
    return sum - seen[0]!.sum;
  };
}

/** Of the samples of this name that have these labels; null where there is none. */
function sumOf(metrics: readonly Metric[], name: string, labels: Labels = {}): number | null {
  const isIts = (metric: Metric) =>
    metric.name === name || (metric.type === "histogram" && name.startsWith(`${metric.name}_`));
  const metric = metrics.find(isIts);
  const wanted = Object.entries(labels);
  let sum: number | null = null;
  for (const sample of metric?.samples() ?? [])
    if (
      metric!.name + (sample.suffix ?? "") === name &&
      wanted.every(([label, text]) => sample.labels?.[label] === text)
    )
      sum = (sum ?? 0) + sample.value;
  return sum;
}
