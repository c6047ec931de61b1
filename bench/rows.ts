/** Every row there is: what it measures, and what it has to reach. */
import { grouped } from "#words.ts";
import { type Estimate, estimate } from "./statistics.ts";

/** What a figure must be at least (or at most), and what it should be. */
interface Target {
  floor: number;
  /** Undefined where the floor is all that is promised. */
  goal?: number;
  isMoreBetter: boolean;
}

export interface Row {
  title: string;
  /** The figure as text, with its unit. */
  show(value: number): string;
  /** Likewise, where it is compared with another commit and has another unit then. */
  showCompared?(value: number): string;
  target: Target;
}

const share = (value: number) => value.toFixed(2);
/** From requests for a second of processor time. */
const cost = (value: number) => `${(1e6 / value).toFixed(1)} µs`;
const times = (value: number) => `${value.toFixed(2)}×`;
const seconds = (value: number) => `${value.toFixed(2)} s`;
const megabytes = (value: number) => `${value.toFixed(0)} MB`;

const atLeast = (floor: number, goal?: number): Target => ({
  floor,
  ...(goal !== undefined && { goal }),
  isMoreBetter: true,
});
const atMost = (floor: number, goal?: number): Target => ({
  ...atLeast(floor, goal),
  isMoreBetter: false,
});

const costRow = (title: string, floor: number, goal: number) => ({
  title,
  show: share,
  showCompared: cost,
  target: atLeast(floor, goal),
});

const importRow = (title: string) => ({ title, show: share, target: atLeast(0.2, 0.3) });

const speedRow = (title: string, floor: number) => ({
  title,
  show: (value: number) => grouped(Math.round(value)),
  target: atLeast(floor),
});

const listsRow = (title: string) => ({ title, show: times, target: atMost(2) });

const peerRow = (title: string, floor: number, goal: number) => ({
  title,
  show: times,
  target: atMost(floor, goal),
});

const processorTime = (value: number) => `${value.toFixed(2)} µs`;

export const rows = {
  warm: costRow("warm mix: key, quota, validation; no log", 0.65, 0.85),
  "warm-young": costRow("the first 10,000 requests of those processes", 0.42, 0.6),
  log: costRow("the warm mix with a log line a request", 0.6, 0.8),
  "log-young": costRow("the first 10,000 requests of those processes", 0.42, 0.6),
  all: costRow("the warm mix with log, metrics and usage recording", 0.6, 0.8),
  "all-young": costRow("the first 10,000 requests of those processes", 0.42, 0.6),
  cold: costRow("cold mix (no answer cache) at 65,000 records", 0.25, 0.45),
  "cold-650k": costRow("cold mix at 650,000 records, against 65,000", 0.65, 0.85),
  "engines-valkey": costRow(
    "an instance on PostgreSQL and Redis, with log, metrics and recording, against one on files",
    0.75,
    0.9,
  ),
  "engines-postgres": costRow("an instance on PostgreSQL alone, likewise", 0.5, 0.7),
  "engines-four": costRow("one of four instances on PostgreSQL and Redis, likewise", 0.5, 0.7),
  "operations-650k": {
    title: "the operation that costs most more at 650,000 records, cold, against 65,000",
    show: times,
    target: atMost(1.5, 1.2),
  },
  lists: listsRow("the list that costs most at 65,000 records, against a cold /fetch-signals"),
  "lists-650k": listsRow("likewise at 650,000 records"),
  start: {
    title: "first answer after start, 65,000 records",
    show: seconds,
    target: atMost(0.5, 0.3),
  },
  memory: { title: "resident memory then", show: megabytes, target: atMost(160, 120) },
  "memory-load": {
    title: "resident memory after 300,000 requests of the mix, set for a machine short of memory",
    show: megabytes,
    target: atMost(260, 200),
  },
  "memory-takeover": {
    title: "datasets in memory 10 s after a take-over under load",
    show: times,
    target: atMost(1.1, 1),
  },
  import: importRow("import of 65,000 records, against Node that only stores their lines"),
  "import-memory": {
    title: "most memory of that import",
    show: megabytes,
    target: atMost(270),
  },
  "import-650k": importRow("import of 650,000 records, likewise"),
  "import-memory-650k": {
    title: "most memory of that import",
    show: megabytes,
    target: atMost(750),
  },
  "import-sec": speedRow(
    "filings for a second of processor time, from tables of Form D to typed rows",
    5000,
  ),
  "import-sec-xml": speedRow("likewise from XML", 2000),
  tail: {
    title: "p99 at 500 requests a second, open loop, against bare node:http",
    show: times,
    target: atMost(2, 1.3),
  },
  recording: {
    title: "recording a request: processor time of all threads",
    show: processorTime,
    target: atMost(6, 4),
  },
  "recording-thread": {
    title: "recording a request: processor time in the thread that answers",
    show: processorTime,
    target: atMost(0.6, 0.3),
  },
  "recording-disk": {
    title: "recording a request: disk",
    show: (value: number) => `${value.toFixed(0)} B`,
    target: atMost(90, 70),
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
  peers: peerRow(
    "log, metrics and recording, against Fastify + pg with an LRU of answers and none of them",
    1,
    0.85,
  ),
  "peers-same": peerRow("likewise, against that service doing the same work", 0.6, 0.4),
  "peers-compressed": peerRow("the same two, asked by clients that accept compression", 0.2, 0.1),
} satisfies Record<string, Row>;

export type RowName = keyof typeof rows;

/** What was measured of a row on one checkout. */
export interface Figure {
  row: RowName;
  /** Name of the checkout. */
  checkout: string;
  /** Of each round. */
  values: number[];
  /** What else is to be known of it. */
  note: string;
}

type Grade = "below floor" | "floor" | "goal";

/** A value that cannot be told, NaN, is below the floor. */
function gradeOf({ floor, goal, isMoreBetter }: Target, value: number): Grade {
  const reaches = (mark: number) => (isMoreBetter ? value >= mark : value <= mark);
  if (!reaches(floor)) return "below floor";
  return goal !== undefined && reaches(goal) ? "goal" : "floor";
}

/** The grade of all that lies in the interval; null where it reaches from one grade into another. */
export function gradeOfEstimate(target: Target, { value, low, high }: Estimate): Grade | null {
  const grade = gradeOf(target, value);
  return [low, high].every((bound) => gradeOf(target, bound) === grade) ? grade : null;
}

/** How much better one checkout is than the other, round by round: both met the same noise in a round. Above 1 it is better. */
export function ratioOf(own: Figure, other: Figure): Estimate {
  const { isMoreBetter } = rows[own.row].target;
  return estimate(
    own.values.map((value, round) =>
      isMoreBetter ? value / other.values[round]! : other.values[round]! / value,
    ),
  );
}
