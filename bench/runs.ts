/** Figures of a run kept in a file, and the table of several runs: one run tells how sure its figures are, not what another hour brings. */
import { readFileSync, writeFileSync } from "node:fs";
import { OptionFault } from "./options.ts";
import { asTable, cellsOf, describeRun, type Measured, mixText } from "./report.ts";
import { type RowName, rows } from "./rows.ts";
import { median } from "./statistics.ts";

/** What a file holds, as JSON. */
export interface SavedRun {
  format: typeof format;
  /** RFC 3339. */
  at: string;
  /** Date, commit, Node, machine, command. */
  about: string;
  mix: string | null;
  /** In the order of the rows. */
  figures: { row: RowName; values: number[]; note: string }[];
}

/** 1 held what was measured before V8 had settled. */
const format = 2;

/** @throws Error where the file cannot be written. */
export function saveRun(path: string, { figures, sizes }: Measured): void {
  const run: SavedRun = {
    format,
    at: new Date().toISOString(),
    about: describeRun(),
    mix: sizes === null ? null : mixText(sizes),
    figures: figures.map(({ row, values, note }) => ({ row, values, note })),
  };
  writeFileSync(path, `${JSON.stringify(run)}\n`);
}

/** Reads a run. Rows that there are no more are left out of its table. @throws OptionFault if the file is none of ours. */
export function readRun(path: string): SavedRun {
  let run: Partial<SavedRun>;
  try {
    run = JSON.parse(readFileSync(path, "utf8")) as Partial<SavedRun>;
  } catch (error) {
    throw new OptionFault(`--merge cannot read ${path}: ${(error as Error).message}`);
  }
  if (run?.format !== format)
    throw new OptionFault(`${path} is no file of --save, or one of another version of the bench.`);
  return run as SavedRun;
}

/** The median of the runs with the lowest and the highest; which runs they are, and what they were measured on. */
export function mergedReport(runs: readonly SavedRun[], choices: ReadonlySet<RowName>): string {
  const inOrder = runs.toSorted((a, b) => a.at.localeCompare(b.at));
  const list = inOrder.map(({ at, about }) => `- ${at.slice(0, 16)}Z: ${about}`).join("\n");
  const mixes = new Set(inOrder.map(({ mix }) => mix).filter((mix) => mix !== null));
  const lines = (Object.keys(rows) as RowName[])
    .filter((row) => choices.has(row))
    .flatMap((row) => {
      const found = inOrder.flatMap(({ figures }) => figures.filter((one) => one.row === row));
      const last = found.at(-1);
      if (last === undefined) return [];
      const medians = found.map(({ values }) => median(values));
      const [low, high] = [Math.min(...medians), Math.max(...medians)];
      const spread = { value: median(medians), low, high, count: medians.length };
      return [cellsOf(row, spread, last.note)];
    });
  return [
    `${runs.length === 1 ? "One run" : `${runs.length} runs; their median, and their range`}:`,
    list,
    ...mixes,
    ...(lines.length === 0 ? [] : [asTable([heading, ...lines])]),
  ].join("\n\n");
}

const heading = ["row", "floor", "goal", "measured", "range", "runs", "", "how (last run)"];
