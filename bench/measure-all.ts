/** Runs what the options ask for, one group of rows after the other, and writes the report. */
import { quick, thorough, type Effort } from "./effort.ts";
import { type Ground, layGround } from "./ground.ts";
import type { Choice, Options } from "./options.ts";
import { profile } from "./profiles/profile.ts";
import { report, surroundings } from "./report.ts";
import { type Figure, rows, type RowName } from "./rows.ts";
import { measureBesideImport } from "./rows/beside-import.ts";
import { type CostResult, type CostRow, costSetups, measureCost } from "./rows/cost.ts";
import { measureDeepOffset } from "./rows/deep-offset.ts";
import { measureImport } from "./rows/import.ts";
import { measureKeyReload } from "./rows/key-reload.ts";
import { measureLoudClient } from "./rows/loud-client.ts";
import { measureRefusedKeys } from "./rows/refused-keys.ts";
import { measureStart } from "./rows/start.ts";
import { measureSteps, type StepFigure } from "./steps/measure-steps.ts";

export interface Measured {
  /** In the order of the rows. */
  figures: Figure[];
  cost: CostResult | null;
  steps: StepFigure[];
  /** Rows that could not be measured, and why. */
  faults: string[];
}

/** Rows that are measured together. */
const groups: readonly {
  rows: readonly RowName[];
  measure(ground: Ground, effort: Effort): Promise<Figure[]>;
}[] = [
  { rows: ["start", "memory"], measure: measureStart },
  { rows: ["import"], measure: measureImport },
  { rows: ["import-gap", "import-p99"], measure: measureBesideImport },
  { rows: ["key-reload"], measure: measureKeyReload },
  { rows: ["loud-client"], measure: measureLoudClient },
  { rows: ["deep-offset"], measure: measureDeepOffset },
  { rows: ["refused-keys"], measure: measureRefusedKeys },
];

export interface Outcome {
  report: string;
  /** Could every row be measured? */
  isWhole: boolean;
}

/** @param tell hears what is under way. */
export async function measureAll(options: Options, tell: (what: string) => void): Promise<Outcome> {
  const effort = options.isQuick ? quick : thorough;
  const ground = layGround(options.compareTo, tell);
  if (options.profile !== null) {
    tell(`profiling ${options.profile}`);
    const text = await profile(ground, options.profile, effort);
    return { report: `${surroundings()}\n\n${text}`, isWhole: true };
  }
  const measured = await measure(ground, options, effort, tell);
  return {
    report: report(options, ground.checkouts, measured),
    isWhole: measured.faults.length === 0,
  };
}

async function measure(
  ground: Ground,
  { choices }: Options,
  effort: Effort,
  tell: (what: string) => void,
): Promise<Measured> {
  const measured: Measured = { figures: [], cost: null, steps: [], faults: [] };
  /** What fails must not take the other rows with it. */
  const attempt = async (names: readonly Choice[], run: () => Promise<void>) => {
    if (names.length === 0) return;
    tell(`measuring ${names.join(", ")}`);
    await run().catch((error: Error) => {
      measured.faults.push(`${names.join(", ")}: ${error.message}`);
    });
  };
  const costRows = (Object.keys(costSetups) as CostRow[]).filter((row) => choices.has(row));
  await attempt(costRows, async () => {
    measured.cost = await measureCost(ground, costRows, effort);
    measured.figures.push(...measured.cost.figures);
  });
  for (const group of groups) {
    const wanted = group.rows.filter((row) => choices.has(row));
    await attempt(wanted, async () => {
      const figures = await group.measure(ground, effort);
      measured.figures.push(...figures.filter(({ row }) => wanted.includes(row)));
    });
  }
  await attempt(choices.has("steps") ? ["steps"] : [], async () => {
    measured.steps = await measureSteps(ground, effort);
  });
  const order = Object.keys(rows);
  measured.figures.sort((a, b) => order.indexOf(a.row) - order.indexOf(b.row));
  return measured;
}
