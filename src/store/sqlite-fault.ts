/** Puts SQLite's errors into words that name the file and say what to do. */
import { StoreFault } from "./domain-error.ts";

/** Primary result codes, the low byte of an extended one: https://www.sqlite.org/rescode.html */
const primaryCode = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  inputOutput: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  notADatabase: 26,
};

/**
 * The error to throw for one that node:sqlite threw.
 * @returns a StoreFault where the operator can do something about it, else the same error.
 */
export function sqliteFault(error: unknown, file: string): unknown {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  if (typeof code !== "number") return error;
  const fault = (kind: "busy" | "unusable" | "full", message: string) =>
    new StoreFault(kind, message, { cause: error });
  switch (code & 0xff) {
    case primaryCode.busy:
    case primaryCode.locked:
      return fault(
        "busy",
        `Another process is writing ${file} and did not finish in time. Try again.`,
      );
    case primaryCode.readOnly:
      return fault(
        "unusable",
        `${file} cannot be written. Give this user write access to it and its folder.`,
      );
    case primaryCode.inputOutput:
      return fault(
        "full",
        `The system failed to read or write ${file}. Is the disk full or broken, or a limit on the size of files (ulimit -f) in the way?`,
      );
    case primaryCode.corrupt:
    case primaryCode.notADatabase:
      return fault(
        "unusable",
        `${file} is damaged or not an SQLite database. Restore it from a backup.`,
      );
    case primaryCode.full:
      return fault("full", `The disk that holds ${file} is full. Free some space and try again.`);
    case primaryCode.cantOpen:
      return fault(
        "unusable",
        `${file} cannot be opened. Is it there, and may this user read and write it?`,
      );
    default:
      return error;
  }
}
