/** The metric of the failing parts of the service. */
import type { Metric } from "./metric.ts";

const reportedParts = ["keys", "counts", "usage"] as const;
/** Parts that report the beginning and the end of a failure. */
export type FailingPart = (typeof reportedParts)[number];

interface FailingParts extends Metric {
  set(part: FailingPart, isFailing: boolean): void;
}

/** @param isDatasetServed reports whether the folder's current dataset is the served one. */
export function openFailingParts(isDatasetServed: () => boolean): FailingParts {
  const values = new Map(reportedParts.map((part) => [part, 0]));
  return {
    name: "gp_records_failing",
    type: "gauge",
    help: "1 while this part of the service cannot do its work",
    *samples() {
      for (const [part, value] of values) yield { labels: { part }, value };
      yield { labels: { part: "dataset" }, value: isDatasetServed() ? 0 : 1 };
    },
    set: (part, isFailing) => void values.set(part, isFailing ? 1 : 0),
  };
}
