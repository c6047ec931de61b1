/** Counts what an import refuses, and decides whether it refuses too much. */
import type { RecordFault } from "#records/source-entry.ts";

/** Where a record stands in the files of a delivery. */
export interface Place {
  file: string;
  line: number;
}

interface Rejection extends Place {
  field: string;
  reason: string;
  /** How often it occurs, which for a fault of a cell may be more than once; `file` and `line` are of the first. */
  count: number;
}

/** How much an import may leave out and still be published: a number of lines or a share of those read. */
export type RejectedMax = { lines: number } | { percent: number };

/** Most faults that a report lists, equal ones of cells as one; the rest is only counted. */
const listedMax = 1000;

export interface Rejections {
  readonly count: number;
  readonly listed: readonly Rejection[];
  add(file: string, line: number, faults: readonly RecordFault[]): void;
}

export function countRejections(): Rejections {
  const listed: Rejection[] = [];
  const cellFaults = new Map<string, Rejection>();
  let count = 0;
  return {
    get count() {
      return count;
    },
    listed,
    add(file, line, faults) {
      count++;
      for (const { field, reason, isOfCell } of faults) {
        const same = isOfCell && cellFaults.get(`${field} ${reason}`);
        if (same) same.count++;
        else if (listed.length < listedMax) {
          const rejection = { file, line, field, reason, count: 1 };
          listed.push(rejection);
          if (isOfCell) cellFaults.set(`${field} ${reason}`, rejection);
        }
      }
    },
  };
}

export function isTooMuch(rejected: number, read: number, max: RejectedMax): boolean {
  return "lines" in max ? rejected > max.lines : rejected * 100 > max.percent * read;
}
