/** Counts the lines that an import rejects, and decides whether they are too many. */
import type { RecordFault, UnknownWord } from "#records/canonical.ts";

/** The place of a record in the files of a delivery. */
export interface Place {
  file: string;
  line: number;
}

interface Rejection extends Place {
  field: string;
  reason: string;
  /**
   * Number of occurrences. Only the fault of a cell can have several; `file` and `line` are then those of the first.
   */
  count: number;
  /** Further lines with the fault, of any file: the first few. */
  also?: number[];
  /** Cell that is no known word, with what the mapping's `values` may say of it. */
  word?: UnknownWord;
}

/** Maximum number of lines that an import may reject: a number, or a percentage of the lines read. */
export type RejectedMax = { lines: number } | { percent: number };

/** Maximum number of listed faults. Equal faults of cells count once. Lines with further faults are only counted. */
const listedMax = 1000;

/** Maximum number of further lines that are named for one fault. */
const alsoMax = 4;

export type Rejections = ReturnType<typeof countRejections>;

export function countRejections() {
  const listed: Rejection[] = [];
  const cellFaults = new Map<string, Rejection>();
  let count = 0;
  return {
    get count() {
      return count;
    },
    listed: listed as readonly Rejection[],
    add(file: string, line: number, faults: readonly RecordFault[]): void {
      count++;
      for (const { field, reason, isOfCell, word } of faults) {
        const same = isOfCell && cellFaults.get(`${field} ${reason}`);
        if (same) {
          same.count++;
          if ((same.also ??= []).length < alsoMax) same.also.push(line);
        } else if (listed.length < listedMax) {
          const rejection = { file, line, field, reason, count: 1, ...(word && { word }) };
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
