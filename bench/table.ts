/** Prints what was measured: as a table for a terminal, or as Markdown for a page. */
import { gradeOf, rows, type Figure, type Row } from "./rows.ts";
import type { StepFigure } from "./steps/measure-steps.ts";

type Cells = readonly string[];

const heading = ["row", "floor", "goal", "measured", "", "how"];
const comparedHeading = ["row", "this checkout", "the other", "ratio", "how"];

/** One line for each figure, beside what it has to reach. */
export function figureCells(figures: readonly Figure[]): Cells[] {
  return [
    heading,
    ...figures.map(({ row: name, value, note }) => {
      const { title, target, show }: Row = rows[name];
      const bound = target.isMoreBetter ? "≥" : "≤";
      const goal = target.goal === undefined ? "–" : `${bound} ${show(target.goal)}`;
      const floor = `${bound} ${show(target.floor)}`;
      return [title, floor, goal, show(value), gradeOf(target, value), note];
    }),
  ];
}

/** One line for each row, this checkout beside the other one; a ratio above 1 is better here. */
export function comparedCells(
  figures: readonly Figure[],
  [own, other]: readonly [string, string],
): Cells[] {
  const lines = figures
    .filter(({ checkout }) => checkout === own)
    .map(({ row: name, value, note }) => {
      const theirs = figures.find((one) => one.row === name && one.checkout === other)!;
      const { title, target, show }: Row = rows[name];
      const ratio = target.isMoreBetter ? value / theirs.value : theirs.value / value;
      return [title, show(value), show(theirs.value), `${ratio.toFixed(2)}×`, note];
    });
  return [comparedHeading, ...lines];
}

export const stepCells = (steps: readonly StepFigure[]): Cells[] => [
  ["step of a request, without a socket", "µs"],
  ...steps.map(({ name, microseconds }) => [name, microseconds.toFixed(2)]),
];

/** Columns below each other. */
export function asText(lines: readonly Cells[]): string {
  const widths = widthsOf(lines);
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export function asMarkdown([head = [], ...lines]: readonly Cells[]): string {
  const line = (cells: Cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...lines.map(line)].join("\n");
}

function widthsOf(lines: readonly Cells[]): number[] {
  const columns = lines[0]?.length ?? 0;
  return Array.from({ length: columns }, (_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0)),
  );
}
