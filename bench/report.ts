/** What a run prints in the end: what it was measured on, the table, and which figures are not known well enough. */
import { availableParallelism, cpus, loadavg } from "node:os";
import { ownCommit } from "./fixtures.ts";
import type { MixSizes } from "./requests.ts";
import { type Figure, gradeOfEstimate, ratioOf, type Row, type RowName, rows } from "./rows.ts";
import { type Estimate, estimate, uncertainty, uncertaintyMax } from "./statistics.ts";

export interface Measured {
  /** In the order of the rows. */
  figures: readonly Figure[];
  /** Null where no row needed the mix's answers. */
  sizes: MixSizes | null;
  /** Rows that could not be measured, and why. */
  faults: readonly string[];
}

export function report({ figures, sizes, faults }: Measured, checkouts: readonly string[]): string {
  const lines = linesOf(figures, checkouts);
  const head = checkouts.length === 1 ? heading : comparedHeading;
  const untold = lines.filter(({ isKnown }) => !isKnown);
  return [
    describeRun(),
    ...(loadAtStart > availableParallelism() / 2 ? [busyText] : []),
    ...(sizes === null ? [] : [mixText(sizes)]),
    ...(lines.length === 0 ? [] : [asTable([head, ...lines.map(({ cells }) => cells)])]),
    ...(untold.length === 0 ? [] : [untoldText(untold.map(({ name }) => name))]),
    ...faults.map((fault) => `NOT MEASURED: ${fault}`),
  ].join("\n\n");
}

/**
 * Returns the lines of the table.
 * @param checkouts name of this one, and of the one it is compared with, if any.
 */
export const linesOf = (
  figures: readonly Figure[],
  [own, other]: readonly string[],
): readonly Line[] =>
  other === undefined ? figures.map(lineOf) : comparedLines(figures, [own!, other]);

/** Before the run has added its own. */
const loadAtStart = loadavg()[0]!;

/** Without these a figure says nothing. */
export function describeRun(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const command = ["npm run bench", ...process.argv.slice(2)];
  if (command.length > 1) command.splice(1, 0, "--");
  return [
    `${new Date().toISOString().slice(0, 10)}, commit ${ownCommit()}, Node ${process.versions.node}`,
    `${availableParallelism()} × ${model}, load ${loadAtStart.toFixed(1)} before the run`,
    `\`${command.join(" ")}\``,
  ].join("; ");
}

const busyText =
  "Others were at work on this machine: shares and ratios of processor time hold within their intervals, waiting times and whole seconds do not.";

const untoldText = (names: readonly string[]) =>
  `Cannot tell: ${names.join(", ")}. After all rounds the interval is still wider than ±${uncertaintyMax * 100} %; measure again with more --rounds, or while the machine is less busy.`;

export const mixText = ({ bodyBytesMean, headBytesMean, headLinesMean }: MixSizes) =>
  `Mix: 2,000 queries over the four operations, Zipf 1.0, 200 keys, limit 20; mean body ${(bodyBytesMean / 1000).toFixed(1)} kB, head ${headBytesMean.toFixed(0)} B in ${headLinesMean.toFixed(0)} lines. Shares are of a bare node:http server that sends the same.`;

type Cells = readonly string[];

interface Line {
  name: string;
  cells: Cells;
  /** Well enough to say something? */
  isKnown: boolean;
}

const heading = ["row", "floor", "goal", "measured", "95 % interval", "rounds", "", "how"];
const comparedHeading = [
  "row",
  "this checkout",
  "the other",
  "ratio",
  "95 % interval",
  "rounds",
  "",
  "how",
];
const cannotTell = "cannot tell";

/** A figure beside what it has to reach. */
function lineOf({ row, values, note }: Figure): Line {
  const figure = estimate(values);
  return {
    name: row,
    cells: cellsOf(row, figure, note),
    isKnown: uncertainty(figure) <= uncertaintyMax,
  };
}

export function cellsOf(name: RowName, figure: Estimate, note: string): Cells {
  const { title, target, show }: Row = rows[name];
  const { floor, goal, isMoreBetter } = target;
  const bound = isMoreBetter ? "≥" : "≤";
  return [
    title,
    `${bound} ${show(floor)}`,
    goal === undefined ? "–" : `${bound} ${show(goal)}`,
    show(figure.value),
    intervalText(figure, show),
    String(figure.count),
    gradeOfEstimate(target, figure) ?? cannotTell,
    note,
  ];
}

/** This checkout beside the other one; a ratio above 1 is better here. */
function comparedLines(
  figures: readonly Figure[],
  [own, other]: readonly [string, string],
): Line[] {
  return figures
    .filter(({ checkout }) => checkout === own)
    .map((figure) => {
      const name = figure.row;
      const theirs = figures.find((one) => one.row === name && one.checkout === other)!;
      const { title, show, showCompared = show }: Row = rows[name];
      const [ownValue, otherValue] = [figure, theirs].map(({ values }) => estimate(values).value);
      const ratio = ratioOf(figure, theirs);
      const verdict = verdictOn(ratio);
      return {
        name,
        cells: [
          title,
          showCompared(ownValue!),
          showCompared(otherValue!),
          `${ratio.value.toFixed(3)}×`,
          intervalText(ratio, (value) => value.toFixed(3)),
          String(ratio.count),
          verdict,
          figure.note,
        ],
        isKnown: verdict !== cannotTell,
      };
    });
}

/** A wide interval can still be all on one side of 1. */
function verdictOn(ratio: Estimate): "better" | "worse" | "no difference" | "cannot tell" {
  if (ratio.low > 1) return "better";
  if (ratio.high < 1) return "worse";
  return uncertainty(ratio) <= uncertaintyMax ? "no difference" : cannotTell;
}

const intervalText = ({ low, high }: Estimate, show: (value: number) => string) =>
  Number.isFinite(low) ? `${show(low)} to ${show(high)}` : "–";

/** Returns a table in Markdown, with its columns below each other. */
export function asTable([head = [], ...lines]: readonly Cells[]): string {
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...lines.map((cells) => cells[column]!.length)),
  );
  const line = (cells: Cells) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  const rule = widths.map((width) => "-".repeat(width));
  return [head, rule, ...lines].map(line).join("\n");
}
