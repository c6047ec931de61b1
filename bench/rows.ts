/** Every row there is: what it measures, and what it has to reach. */

/** What a figure must be at least (or at most), and what it should be. */
export interface Target {
  floor: number;
  /** Undefined where the floor is all that is promised. */
  goal?: number;
  isMoreBetter: boolean;
}

export interface Row {
  title: string;
  /** The figure as text, with its unit. */
  show(value: number): string;
  target: Target;
}

const share = (value: number) => value.toFixed(2);
const times = (value: number) => `${value.toFixed(2)}×`;
const seconds = (value: number) => `${value.toFixed(2)} s`;
const milliseconds = (value: number) => `${value.toFixed(1)} ms`;
const megabytes = (value: number) => `${value.toFixed(0)} MB`;
const thousands = (value: number) => `${(value / 1000).toFixed(1)}k`;

const atLeast = (floor: number, goal?: number): Target => ({
  floor,
  ...(goal !== undefined && { goal }),
  isMoreBetter: true,
});
const atMost = (floor: number, goal?: number): Target => ({
  ...atLeast(floor, goal),
  isMoreBetter: false,
});

export const rows = {
  warm: {
    title: "warm mix: key, quota, validation; no log",
    show: share,
    target: atLeast(0.55, 0.85),
  },
  log: { title: "the same with a log line a request", show: share, target: atLeast(0.4, 0.6) },
  metrics: {
    title: "the same with log, metrics and usage recording",
    show: share,
    target: atLeast(0.38, 0.55),
  },
  cold: {
    title: "cold mix (no answer cache) at 65,000 records",
    show: share,
    target: atLeast(0.15, 0.4),
  },
  "cold-650k": {
    title: "cold mix at 650,000 records, against 65,000",
    show: share,
    target: atLeast(0.5, 0.8),
  },
  start: {
    title: "first answer after start, 65,000 records",
    show: seconds,
    target: atMost(2, 0.7),
  },
  memory: { title: "resident memory then", show: megabytes, target: atMost(250, 140) },
  import: {
    title: "import of 65,000 canonical records, records a second",
    show: thousands,
    target: atLeast(40_000, 130_000),
  },
  "import-gap": {
    title: "longest turn of the event loop beside an import (C58)",
    show: milliseconds,
    target: atMost(50),
  },
  "import-p99": {
    title: "p99 at 200 requests a second beside an import, against before (C58)",
    show: times,
    target: atMost(2),
  },
  "key-reload": {
    title: "turn of the event loop in which 10,000 keys are read again",
    show: milliseconds,
    target: atMost(50),
  },
  "loud-client": {
    title: "p99 of a client beside one at full speed, against alone",
    show: times,
    target: atMost(2),
  },
  "deep-offset": {
    title: "processor time of a deep offset, against offset 0 (C19)",
    show: times,
    target: atMost(3),
  },
  "refused-keys": {
    title: "slowest kind of refused key against the quickest, medians (C32)",
    show: times,
    target: atMost(1.1),
  },
} satisfies Record<string, Row>;

export type RowName = keyof typeof rows;

/** One measured value of a row. */
export interface Figure {
  row: RowName;
  /** Name of the checkout it was measured on. */
  checkout: string;
  value: number;
  /** What else is to be known of it. */
  note: string;
}

export type Grade = "below floor" | "floor" | "goal";

/** A value that cannot be told, NaN, is below the floor. */
export function gradeOf({ floor, goal, isMoreBetter }: Target, value: number): Grade {
  const reaches = (mark: number) => (isMoreBetter ? value >= mark : value <= mark);
  if (!reaches(floor)) return "below floor";
  return goal !== undefined && reaches(goal) ? "goal" : "floor";
}
