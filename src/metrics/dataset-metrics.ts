/** Metrics of the served dataset: its version, age and size, and failures to load one. */
import { counter, gauge, type Metric } from "./metric.ts";

/** Facts about the served dataset. Times are ISO 8601. */
interface ServedDataset {
  version: string;
  updatedAt: string;
  records: Readonly<Record<string, number>>;
}

interface DatasetMetrics {
  metrics: readonly Metric[];
  loaded(nowMilliseconds: number): void;
  failed(): void;
}

/**
 * @param served returns null while there is none.
 * @param published returns when the folder's current dataset was published, or null if there is none or it cannot be read.
 */
export function openDatasetMetrics(
  served: () => ServedDataset | null,
  published: () => string | null,
): DatasetMetrics {
  let loadedSeconds: number | null = null;
  let failures = 0;
  const seconds = (time: string | undefined | null) =>
    time === undefined || time === null ? null : Date.parse(time) / 1000;
  return {
    metrics: [
      {
        name: "gp_records_dataset_info",
        type: "gauge",
        help: "Always 1; the label names the served dataset",
        *samples() {
          const dataset = served();
          if (dataset !== null) yield { labels: { version: dataset.version }, value: 1 };
        },
      },
      {
        name: "gp_records_dataset_records",
        type: "gauge",
        help: "Served records, by kind",
        *samples() {
          for (const [kind, value] of Object.entries(served()?.records ?? {}))
            yield { labels: { kind }, value };
        },
      },
      gauge(
        "gp_records_dataset_updated_timestamp_seconds",
        "When the served dataset was built, since 1970",
        () => seconds(served()?.updatedAt),
      ),
      gauge(
        "gp_records_dataset_published_timestamp_seconds",
        "When an import, a publication or a roll-back last named a current dataset, since 1970",
        () => seconds(published()),
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
    loaded(nowMilliseconds) {
      loadedSeconds = nowMilliseconds / 1000;
    },
    failed: () => void failures++,
  };
}
