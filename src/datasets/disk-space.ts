/** Estimates the disk space a new dataset needs, and refuses an import where there is too little. */
import { rmSync, statfsSync, statSync } from "node:fs";
import { DatasetFault } from "./dataset-fault.ts";

/** Records of one source may be larger than those of another, so the carried share of a file is an estimate. */
const carriedShare = 0.5;

/**
 * The least an import needs. It usually takes about three times what it reads, but one that might just fit may try.
 * @param carried bytes of the part of the previous dataset that is carried over.
 * @param read bytes of the files.
 */
export const neededBytes = (carried: number, read: number) =>
  Math.ceil(carried * carriedShare + read);

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** @throws DatasetFault `full` where the disk is certainly too small, before anything is read or written. */
export function refuseTooLittleSpace(folder: string, needed: number): void {
  const free = freeBytes(folder);
  if (free < needed) throw new DatasetFault(fullWords(folder, needed, free), "full");
}

/** SQLITE_FULL, and the I/O errors of a write, a sync and a growing `-shm`, as at a quota or `ulimit -f`. */
const sqliteCodes: readonly unknown[] = [13, 778, 1034, 4874];
const systemCodes: readonly unknown[] = ["ENOSPC", "EDQUOT", "EFBIG"];

/** Did a write fail because the disk is full, or a quota or a limit on file sizes was reached? */
export function isNoRoom(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return systemCodes.includes(code) || sqliteCodes.includes(errcode);
}

/**
 * Removes a draft that an error interrupted.
 * @param needed bytes that were known to be needed.
 * @returns the error to throw: `full` where the disk was, else the same error.
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
