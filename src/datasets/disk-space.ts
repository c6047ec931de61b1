/** Estimates the disk space of a new dataset, and refuses an import if there is too little. */
import { rmSync, statfsSync, statSync } from "node:fs";
import { DatasetFault } from "./dataset-fault.ts";

/** Smallest share of the carried-over bytes that an import needs. Record sizes differ, so this is an estimate. */
const carriedShare = 0.5;

/**
 * Returns the fewest bytes that an import could need. Most imports need about three times what they read, but one that
 * might fit is tried.
 * @param carried bytes carried over from the previous dataset.
 * @param read bytes of the files.
 */
export const neededBytes = (carried: number, read: number) =>
  Math.ceil(carried * carriedShare + read);

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Throws DatasetFault `full` if the disk is certainly too small. Call it before anything is read or written. */
export function refuseTooLittleSpace(folder: string, needed: number): void {
  const free = freeBytes(folder);
  if (free < needed) throw new DatasetFault(fullWords(folder, needed, free), "full");
}

/** SQLite's codes for a full disk, and for failures to write, sync or grow a file at a quota or `ulimit -f`. */
const sqliteCodes: readonly unknown[] = [13, 778, 1034, 4874];
const systemCodes: readonly unknown[] = ["ENOSPC", "EDQUOT", "EFBIG"];

/** Reports whether a write failed because the disk is full, or a quota or a limit on file sizes was reached. */
export function isNoRoom(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return systemCodes.includes(code) || sqliteCodes.includes(errcode);
}

/**
 * Removes a draft that an error interrupted.
 * @param needed bytes known to be needed.
 * @returns the error to throw: DatasetFault `full` if there was no room, otherwise the given error.
 */
export function abandonDraft(
  error: unknown,
  { path, folder, needed }: { path: string; folder: string; needed: number },
): unknown {
  const written = sizeOf(path);
  rmSync(path, { force: true });
  if (!isNoRoom(error)) return error;
  const least = Math.max(needed, written);
  return new DatasetFault(fullWords(folder, least, freeBytes(folder)), "full", { cause: error });
}

export const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

function fullWords(folder: string, needed: number, free: number): string {
  const sizes = `${folder} needs more than ${words(needed)} bytes for the new dataset; ${words(free)} are free on its disk`;
  const advice =
    free > 2 * needed
      ? "The cause is a quota, a limit on file sizes (ulimit -f), or a full folder for temporary files"
      : "Free some space; 'gp-records datasets prune' removes old datasets";
  return `${sizes}. Nothing was published. ${advice}.`;
}

const words = (bytes: number) => bytes.toLocaleString("en-US");
