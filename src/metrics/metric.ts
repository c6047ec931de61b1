/** Kinds of metrics, and their text. Gauges and counters are read on demand; tallies and histograms are added to. */

type Labels = Readonly<Record<string, string>>;

interface Sample {
  value: number;
  labels?: Labels;
  /** Suffix of the name, for a part of a histogram. */
  suffix?: "_bucket" | "_sum" | "_count";
}

export interface Metric {
  /** Name, ending in the base unit (seconds or bytes) if there is one; a counter's ends in `_total`. */
  name: string;
  type: "counter" | "gauge" | "histogram";
  /** Help text: one sentence without its full stop. */
  help: string;
  samples(): Iterable<Sample>;
}

const reading =
  (type: Metric["type"]) =>
  (name: string, help: string, read: () => number | null): Metric => ({
    name,
    type,
    help,
    *samples() {
      const value = read();
      if (value !== null) yield { value };
    },
  });

/** Returns a metric for a number that is read on demand. It has no sample while the number is null. */
export const gauge = reading("gauge");

/** Returns a metric for a number that is read on demand and only grows. It has no sample while the number is null. */
export const counter = reading("counter");

/**
 * Returns a gauge with a sample for each value of a label.
 * @param read returns the number for each value of the label; true counts as 1, false as 0. The label's values come
 *   from closed lists, or are versions or names of sources.
 */
export const gaugeBy = (
  name: string,
  help: string,
  label: string,
  read: () => Readonly<Record<string, number | boolean>>,
): Metric => ({
  name,
  type: "gauge",
  help,
  *samples() {
    for (const [text, value] of Object.entries(read()))
      yield { labels: { [label]: text }, value: Number(value) };
  },
});

/** A counter with labels. It counts each combination of their values. */
export type Tally = ReturnType<typeof openTally>;

/** Count of one combination of values. Cells form a tree with a level for each label. Joining values is slower. */
interface Cell {
  labels?: Labels;
  value: number;
  below: Map<string | number, Cell>;
}

const makeCell = (): Cell => ({ value: 0, below: new Map() });

/** Opens a tally. @param known combinations shown from the start, so that a rate includes their first occurrence. */
export function openTally(
  name: string,
  help: string,
  labelNames: readonly string[],
  known: readonly (readonly (string | number)[])[] = [],
) {
  const root = makeCell();
  const cells: Cell[] = [];
  const cellOf = (values: readonly (string | number)[]): Cell => {
    let cell = root;
    for (const value of values) cell = cell.below.getOrInsertComputed(value, makeCell);
    if (cell.labels === undefined) {
      cell.labels = Object.fromEntries(labelNames.map((label, i) => [label, String(values[i])]));
      cells.push(cell);
    }
    return cell;
  };
  for (const values of known) cellOf(values);
  return {
    name,
    type: "counter" as const,
    help,
    /** Counts an event with a value for each label, from closed lists, because each combination is kept for ever. */
    add: (...values: readonly (string | number)[]) => void cellOf(values).value++,
    samples: () => cells,
  };
}

interface Row {
  labels: Labels;
  /** Count of each bucket, not cumulative. The last bucket has no upper bound. */
  counts: Float64Array;
  sum: number;
}

/**
 * Opens histograms of durations, one for each value of a label.
 * @param bounds upper bounds of the buckets in seconds, ascending.
 */
export function openHistogram(
  name: string,
  help: string,
  labelName: string,
  bounds: readonly number[],
) {
  const rows = new Map<string, Row>();
  return {
    name,
    type: "histogram" as const,
    help,
    /** Adds a duration. @param value value of the label, from a closed list. */
    observe(value: string, seconds: number): void {
      const row = rows.getOrInsertComputed(value, () => ({
        labels: { [labelName]: value },
        counts: new Float64Array(bounds.length + 1),
        sum: 0,
      }));
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

/** Yields the samples of a row. Buckets are cumulative in the text format: each includes those before it. */
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

/** Media type of Prometheus's text format, version 0.0.4. */
export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Returns the text of metrics: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
 * Help texts and label values need no escapes: the texts are constants, and the values come from closed lists, or are
 * versions or names of sources.
 */
export function exposition(metrics: readonly Metric[]): string {
  let text = "";
  for (const { name, type, help, samples } of metrics) {
    text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    for (const { suffix = "", labels, value } of samples()) {
      const number = value === Number.POSITIVE_INFINITY ? "+Inf" : String(value);
      text += `${name}${suffix}${labelsText(labels)} ${number}\n`;
    }
  }
  return text;
}

function labelsText(labels: Labels = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}
