/** The metric of which parts of the service are failing. */
import type { Metric } from "./metric.ts";

const reportedParts = ["keys", "counts", "usage"] as const;
/** Parts that report when they begin to fail and when they recover. */
export type FailingPart = (typeof reportedParts)[number];

interface FailingParts extends Metric {
  set(part: FailingPart, isFailing: boolean): void;
}

/** @param isDatasetServed whether the current dataset of the folder is the one served. */
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
