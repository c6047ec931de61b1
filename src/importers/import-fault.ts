/** The error class of the importers: a file cannot be used, so that nothing of it is imported. */
import type { RecordFault } from "#records/source-entry.ts";

export class ImportFault extends Error {
  /** As the operator named it. */
  readonly file: string;
  /** Line at which reading stopped, from 1; null where it is not a line that is wrong. */
  readonly line: number | null;
  readonly reason: string;
  /** All faults of a mapping file, each with its path in the file; empty for other files. */
  readonly faults: readonly RecordFault[];
  /** The message: a line for the file, and one for each of the faults. */
  readonly lines: readonly string[];

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
    this.file = file;
    this.line = line;
    this.reason = reason;
    this.faults = faults;
  }
}

/** @throws ImportFault always: a file without a record is more likely a mistake than intended. */
export function refuseEmpty(file: string): never {
  throw new ImportFault(file, null, "holds no record; if that is meant, say --allow-empty");
}
