/** Which parts of the service cannot do their work now. */
import type { Metric } from "./metric.ts";

const toldParts = ["keys", "counts", "usage"] as const;
/** Parts that tell when they begin to fail and when they work again. */
export type FailingPart = (typeof toldParts)[number];

interface FailingParts extends Metric {
  set(part: FailingPart, isFailing: boolean): void;
}

/** @param isDatasetServed is what the folder of datasets names served? */
export function openFailingParts(isDatasetServed: () => boolean): FailingParts {
  const values = new Map(toldParts.map((part) => [part, 0]));
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
