/** Turns SQLite's errors into faults that name the file and say what to do. */
import { StoreFault } from "./domain-error.ts";

/** Primary result codes, the low byte of an extended one: https://www.sqlite.org/rescode.html */
export const sqliteCodes = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  inputOutput: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const;

/** The primary code of a result, which may be an extended one. */
export const primaryCode = (code: number): number => code & 0xff;

/** The primary code of what node:sqlite threw; undefined for any other error. */
export function sqliteCodeOf(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? primaryCode(code) : undefined;
}

/**
 * The error to throw for one that node:sqlite threw.
 * @returns a StoreFault where the operator can do something about it, else the same error.
 */
export function sqliteFault(error: unknown, file: string): unknown {
  const fault = (kind: "busy" | "unusable" | "full", message: string) =>
    new StoreFault(kind, message, { cause: error });
  switch (sqliteCodeOf(error)) {
    case sqliteCodes.busy:
    case sqliteCodes.locked:
      return fault(
        "busy",
        `Another process is writing ${file} and did not finish in time. Try again.`,
      );
    case sqliteCodes.readOnly:
      return fault(
        "unusable",
        `${file} cannot be written. Give this user write access to it and its folder.`,
      );
    case sqliteCodes.inputOutput:
      return fault(
        "full",
        `The system failed to read or write ${file}. Is the disk full or broken, or a limit on the size of files (ulimit -f) in the way?`,
      );
    case sqliteCodes.corrupt:
    case sqliteCodes.notADatabase:
      return fault(
        "unusable",
        `${file} is damaged or not an SQLite database. Restore it from a backup.`,
      );
    case sqliteCodes.full:
      return fault("full", `The disk that holds ${file} is full. Free some space and try again.`);
    case sqliteCodes.cannotOpen:
      return fault(
        "unusable",
        `${file} cannot be opened. Is it there, and may this user read and write it?`,
      );
    default:
      return error;
  }
}
