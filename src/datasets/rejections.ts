/** Counts what an import refuses, and decides whether it refuses too much. */
import type { RecordFault } from "#records/source-entry.ts";

/** Where a record stands in the files of a delivery. */
export interface Place {
  file: string;
  line: number;
}

interface Rejection extends RecordFault, Place {}

/** How much an import may leave out and still be published: a number of lines or a share of those read. */
export type RejectedMax = { lines: number } | { percent: number };

/** Most rejections that a report lists; the rest is only counted. */
const listedMax = 1000;

export interface Rejections {
  readonly count: number;
  readonly listed: readonly Rejection[];
  add(file: string, line: number, faults: readonly RecordFault[]): void;
}

export function countRejections(): Rejections {
  const listed: Rejection[] = [];
  let count = 0;
  return {
    get count() {
      return count;
    },
    listed,
    add(file, line, faults) {
      count++;
      for (const { field, reason } of faults)
        if (listed.length < listedMax) listed.push({ file, line, field, reason });
    },
  };
}

export function isTooMuch(rejected: number, read: number, max: RejectedMax): boolean {
  return "lines" in max ? rejected > max.lines : rejected * 100 > max.percent * read;
}
