/** How long things took, in buckets, for each value of one label. */
import type { Labels, Metric, Sample } from "./metric.ts";

interface Histogram extends Metric {
  /** @param value of the label; it must come from a closed list. */
  observe(value: string, seconds: number): void;
}

interface Row {
  labels: Labels;
  /** How many fell into each bucket alone; the last one has no upper bound. */
  counts: Float64Array;
  sum: number;
}

/** @param bounds upper bounds of the buckets in seconds, ascending. */
export function openHistogram(
  name: string,
  help: string,
  labelName: string,
  bounds: readonly number[],
): Histogram {
  const rows = new Map<string, Row>();
  return {
    name,
    type: "histogram",
    help,
    observe(value, seconds) {
      let row = rows.get(value);
      if (row === undefined) {
        row = {
          labels: { [labelName]: value },
          counts: new Float64Array(bounds.length + 1),
          sum: 0,
        };
        rows.set(value, row);
      }
      let bucket = 0;
      while (bucket < bounds.length && seconds > bounds[bucket]!) bucket++;
      row.counts[bucket]!++;
      row.sum += seconds;
    },
    *samples() {
      for (const row of rows.values()) yield* samplesOf(row, bounds);
    },
  };
}

/** A bucket counts all that is not above its bound, so each holds those before it. */
function* samplesOf({ labels, counts, sum }: Row, bounds: readonly number[]): Iterable<Sample> {
  let value = 0;
  for (const [i, count] of counts.entries()) {
    value += count;
    const le = i < bounds.length ? String(bounds[i]) : "+Inf";
    yield { suffix: "_bucket", labels: { ...labels, le }, value };
  }
  yield { suffix: "_sum", labels, value: sum };
  yield { suffix: "_count", labels, value };
}
