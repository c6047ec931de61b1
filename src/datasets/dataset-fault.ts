/** Faults of datasets that cannot be built, verified, published or opened, with their remedies. */
import { readFileSync, readSync } from "node:fs";
import { openForBlock } from "#store/whole-file.ts";

/**
 * Reason for a fault:
 * - `unfit`: a dataset is missing, damaged, or otherwise unfit for the operation
 * - `full`: the disk has too little space, or a quota or a limit on file sizes was reached
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
    `There is no dataset '${version}'. 'gp-records datasets list' shows all datasets; if this one should be current, 'gp-records doctor' says how to restore it.`,
  );

export const isCurrentDataset = (version: string) =>
  new DatasetFault(
    `${version} was not removed, because it is the current dataset. Publish another one first.`,
  );

/** Returns the fault for a publication whose caller expected another current version, or none. */
export const overtaken = (version: string, current: string | null, expected: string | null) =>
  new DatasetFault(
    `${version} was not published, because another command changed the current dataset in the meantime (before: ${expected ?? "none"}; now: ${current ?? "none"}). Check that the change is still wanted, then run the command again; after a rollback, name the version with 'gp-records datasets publish' instead.`,
  );

/** Reads a file. Returns null if it does not exist. */
export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/**
 * Returns why a file cannot be read, and the remedy. The fault is a sentence that names the file, without a full stop.
 * Returns null if the file can be read or does not exist.
 */
export function unread(path: string): { fault: string; mend: string } | null {
  const why = whyNotRead(path);
  if (why === null) return null;
  return {
    fault: `${path} could not be read: ${why}; the file may be intact, so leave it as it is`,
    mend: "Run gp-records as the user who owns DATA_DIR, make sure that this user may read the file and that the disk is not failing (dmesg), and try again.",
  };
}

/** Returns the system's reason for refusing to read a file. Returns null if the file can be read or does not exist. */
export function whyNotRead(path: string): string | null {
  try {
    using file = openForBlock(path, "r");
    readSync(file.fd, Buffer.alloc(1));
    return null;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? null : message;
  }
}
