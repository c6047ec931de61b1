/** A dataset that cannot be built, verified, published or opened, and what to do about it. */
import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";

/**
 * - `unfit`: there is no such dataset, or the existing ones do not allow it
 * - `full`: the disk is too full for it
 */
type DatasetFaultKind = "unfit" | "full";

export class DatasetFault extends Error {
  readonly kind: DatasetFaultKind;

  constructor(message: string, kind: DatasetFaultKind = "unfit", options?: ErrorOptions) {
    super(message, options);
    this.name = "DatasetFault";
    this.kind = kind;
  }
}

/** Null where it is not there. @throws DatasetFault where there is something else than a file. */
export function readIfThere(path: string): string | null {
  const other = otherThanFile(path);
  if (other !== null)
    throw new DatasetFault(
      `${path} is ${other}, not a file. Move it away, then run 'gp-records doctor', which says what to do without it.`,
    );
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Why a file cannot be read, a sentence without a full stop that names it, and what to do. */
interface Unread {
  fault: string;
  mend: string;
}

/** Null where it can be read, or is not there. */
export function unread(path: string): Unread | null {
  const other = otherThanFile(path);
  if (other !== null)
    return {
      fault: `${path} is ${other}, not a file`,
      mend: "Find out who put it there and move it away; put the file back, from a backup if need be; then try again.",
    };
  const why = whyNotRead(path);
  if (why === null) return null;
  return {
    fault: `${path} could not be looked at: ${why}; it may be whole, so leave it as it is`,
    mend: "Run gp-records as the user who owns DATA_DIR, and see that this is a file that it may read, on a disk that does not fail (dmesg); then try again.",
  };
}

/**
 * What is at a path instead of a file, such as `a directory`; null where there is a file, or nothing. Ask before opening:
 * opening a FIFO may wait for ever, and a device may be read without end.
 */
export function otherThanFile(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return null;
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a FIFO";
  return stats.isSocket() ? "a socket" : "a device";
}

/** Why the system does not let us read a file; null where it does, or the file is not there. */
export function whyNotRead(path: string): string | null {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    readSync(file, Buffer.alloc(1));
    return null;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? null : message;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
