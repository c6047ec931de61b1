/** A dataset that cannot be built, verified, published or opened, and what to do about it. */
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { otherThanFile } from "#store/plain-file.ts";

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

export const noDataset = (version: string) =>
  new DatasetFault(
    `There is no dataset '${version}'; 'gp-records datasets list' shows those there are.`,
  );

/** @throws DatasetFault where there is something else than a file. Ask before opening what a server or a command waits for. */
export function refuseOtherThanFile(path: string): void {
  const other = otherThanFile(path);
  if (other !== null)
    throw new DatasetFault(
      `${path} is ${other}, not a file. Move it away, then run 'gp-records doctor', which says what to do without it.`,
    );
}

/** Null where it is not there. @throws DatasetFault where there is something else than a file. */
export function readIfThere(path: string): string | null {
  refuseOtherThanFile(path);
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
