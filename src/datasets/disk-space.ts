/** Knows how much room a dataset needs on its disk, and says so where there is too little. */
import { rmSync, statfsSync, statSync } from "node:fs";
import { DatasetFault } from "./dataset-fault.ts";

/** Records of one source may be larger than those of another, so the share of a file that is carried over is a guess. */
const carriedShare = 0.5;

/**
 * What an import surely needs. It will need about three times what it reads, for a record is kept as its source gave it
 * and as it is served; but one that might just fit should be let try.
 * @param carried bytes of the part of the dataset before that is carried over.
 * @param read bytes of the files.
 */
export const neededBytes = (carried: number, read: number) =>
  Math.ceil(carried * carriedShare + read);

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** @throws DatasetFault `full` where the disk is surely too small, before anything is read or written. */
export function refuseTooLittleSpace(folder: string, needed: number): void {
  const free = freeBytes(folder);
  if (free < needed) throw new DatasetFault(fullWords(folder, needed, free), "full");
}

/** Results of SQLite: the disk is full; a write, a sync or the growing of a `-shm` failed, as at a quota or `ulimit -f`. */
const sqliteCodes: readonly unknown[] = [13, 778, 1034, 4874];
const systemCodes: readonly unknown[] = ["ENOSPC", "EDQUOT", "EFBIG"];

/** Is it for want of room that something could not be written? */
export function isNoRoom(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return systemCodes.includes(code) || sqliteCodes.includes(errcode);
}

/**
 * Removes a draft whose writing an error broke off.
 * @param needed bytes that were known to be needed.
 * @returns the error to throw: `full` where there was no room, else the same.
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
      ? "A quota, a limit on the size of a file (ulimit -f), or a full folder for temporary files is in the way"
      : "Free some space; 'gp-records datasets prune' removes old datasets";
  return `${sizes}. Nothing was published. ${advice}.`;
}

const words = (bytes: number) => bytes.toLocaleString("en-US");
