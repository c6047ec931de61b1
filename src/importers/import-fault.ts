/** Faults of an import's files: a file that cannot be used, and a line or a cell that is not valid. */
import type { RecordFault, UnknownWord } from "#records/canonical.ts";

/** Error for a file that cannot be used. The import then publishes nothing. */
export class ImportFault extends Error {
  /** Lines of the message: one for the file, and one for each further fault. */
  readonly lines: readonly string[];

  /**
   * @param file name of the file as the operator wrote it, or `<stdin>`.
   * @param line line at which reading stopped, from 1; null if the fault is not in a line.
   * @param faults faults of a mapping, each with its path, or of further unreadable files, each with its name.
   */
  constructor(
    file: string,
    line: number | null,
    reason: string,
    faults: readonly RecordFault[] = [],
  ) {
    const lines = [
      `${line === null ? file : `${file}:${line}`}: ${reason}`,
      ...faults.map((fault) => `  ${fault.field}: ${fault.reason}`),
    ];
    super(lines.join("\n"));
    this.name = "ImportFault";
    this.lines = lines;
  }
}

/** Throws an ImportFault, because a file without records is usually a mistake. */
export function refuseEmpty(file: string): never {
  throw new ImportFault(file, null, "contains no records; if that is intended, add --allow-empty");
}

/** Stand-in for the value of text that is not valid. */
export class Unreadable {
  /** Reason as the end of a sentence, such as "must be a whole number". */
  readonly reason: string;
  readonly word: UnknownWord | undefined;

  constructor(reason: string, word?: UnknownWord) {
    this.reason = reason;
    this.word = word;
  }
}

/** Reports whether a cell is a spreadsheet's formula, such as `=SUM(B2:B9)`, rather than its value. */
export const isFormula = (cell: string): boolean =>
  /^=\s*(?:[a-z.]+\(|\$?[a-z]{1,3}\$?\d|[-+(\d"'])/i.test(cell);

const quotedLengthMax = 50;

/** Returns text from a file as messages show it: on one line, in quotes, and shortened if it is long. */
export function quoted(text: string): string {
  const shown = Array.from(text.slice(0, quotedLengthMax * 2));
  const cut = shown.length > quotedLengthMax;
  return JSON.stringify(cut ? `${shown.slice(0, quotedLengthMax).join("")}…` : text);
}
