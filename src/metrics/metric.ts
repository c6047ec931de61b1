/** What a metric is: a name, a meaning, and the numbers it has at the moment it is asked. */

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  value: number;
  labels?: Labels;
  /** What follows the metric's name: the parts of a histogram. */
  suffix?: "_bucket" | "_sum" | "_count";
}

export interface Metric {
  /** Units stand last and are base units: seconds, bytes; a counter ends in `_total`. */
  name: string;
  type: "counter" | "gauge" | "histogram";
  /** One sentence without its full stop. */
  help: string;
  samples(): Iterable<Sample>;
}

/** A number that is read when asked for; no sample while it is null. */
export const gauge = (name: string, help: string, read: () => number | null): Metric =>
  reading("gauge", name, help, read);

/** The same for a number that only grows. */
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
