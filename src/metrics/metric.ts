/** Kinds of metrics, and their text: gauges and counters are read on demand, tallies and histograms are added to. */

type Labels = Readonly<Record<string, string>>;

interface Sample {
  value: number;
  labels?: Labels;
  /** End of the name, for a part of a histogram. */
  suffix?: "_bucket" | "_sum" | "_count";
}

export interface Metric {
  /** Name. It ends in a base unit, seconds or bytes; a counter's ends in `_total`. */
  name: string;
  type: "counter" | "gauge" | "histogram";
  /** Help text: one sentence without its full stop. */
  help: string;
  samples(): Iterable<Sample>;
}

/** Makes a metric of a number that is read on demand. It has no sample while the number is null. */
export const gauge = (name: string, help: string, read: () => number | null): Metric =>
  reading("gauge", name, help, read);

/** Makes the same for a number that only grows. */
export const counter = (name: string, help: string, read: () => number | null): Metric =>
  reading("counter", name, help, read);

function reading(
  type: Metric["type"],
  name: string,
  help: string,
  read: () => number | null,
): Metric {
  return {
    name,
    type,
    help,
    samples() {
      const value = read();
      return value === null ? [] : [{ value }];
    },
  };
}

/** A counter with labels. It counts each combination of their values. */
interface Tally extends Metric {
  /** Counts a value for each label. Values must come from closed lists, because each combination is kept for ever. */
  add(...values: readonly (string | number)[]): void;
}

interface Cell {
  labels: Labels;
  value: number;
}

/** Cells by one label after the other, which is faster than joining the values into one key. */
type Tree = Map<string | number, Tree | Cell>;

/** @param known combinations shown from the start, so that a rate includes their first occurrence. */
export function openTally(
  name: string,
  help: string,
  labelNames: readonly string[],
  known: readonly (readonly (string | number)[])[] = [],
): Tally {
  const tree: Tree = new Map();
  const cells: Cell[] = [];
  const last = labelNames.length - 1;
  const addCell = (values: readonly (string | number)[]): Cell => {
    const labels = Object.fromEntries(labelNames.map((label, i) => [label, String(values[i])]));
    const cell = { labels, value: 0 };
    cells.push(cell);
    return cell;
  };
  const cellOf = (values: readonly (string | number)[]): Cell => {
    let branch = tree;
    for (let i = 0; i <= last; i++) {
      let next = branch.get(values[i]!);
      if (next === undefined) {
        next = i === last ? addCell(values) : new Map();
        branch.set(values[i]!, next);
      }
      if (i === last) return next as Cell;
      branch = next as Tree;
    }
    throw new RangeError(`${name} has no labels`);
  };
  for (const values of known) cellOf(values);
  return {
    name,
    type: "counter",
    help,
    add: (...values) => void cellOf(values).value++,
    samples: () => cells,
  };
}

/** Durations in buckets, for each value of one label. */
interface Histogram extends Metric {
  /** @param value value of the label, from a closed list. */
  observe(value: string, seconds: number): void;
}

interface Row {
  labels: Labels;
  /** Count of each bucket, not cumulative. The last bucket has no upper bound. */
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

/** Yields the samples of a row. In the format buckets are cumulative: each includes those before it. */
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

/** Media type of the text format of Prometheus, version 0.0.4. */
export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

/** Returns the text of metrics: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
export function exposition(metrics: readonly Metric[]): string {
  let text = "";
  for (const { name, type, help, samples } of metrics) {
    text += `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
    for (const { suffix = "", labels, value } of samples())
      text += `${name}${suffix}${labelsText(labels)} ${numberText(value)}\n`;
  }
  return text;
}

function labelsText(labels: Labels | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([name, value]) => `${name}="${escape(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escapeHelp = (text: string) => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
const escape = (text: string) => escapeHelp(text).replaceAll('"', '\\"');

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}
