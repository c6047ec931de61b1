/** A counter with labels: how often each combination of their values was met. */
import type { Labels, Metric } from "./metric.ts";

interface Tally extends Metric {
  /** A value for each label; they must come from closed lists, since each combination is kept for ever. */
  add(...values: readonly (string | number)[]): void;
}

interface Cell {
  labels: Labels;
  value: number;
}

/** By the value of one label after the other: quicker than to put them together. */
type Tree = Map<string | number, Tree | Cell>;

/** @param known combinations that are shown from the start, so that a rate can be taken of their first time. */
export function openTally(
  name: string,
  help: string,
  labelNames: readonly string[],
  known: readonly (readonly string[])[] = [],
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
