/** Words the fault of a disk that is too full for a new dataset. */
import { rmSync, statfsSync, statSync } from "node:fs";
import { DatasetFault } from "./dataset-fault.ts";

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Codes of SQLITE_FULL, and of I/O errors of a write, a sync and a growing `-shm`, as at a quota or `ulimit -f`. */
const sqliteCodes: readonly unknown[] = [13, 778, 1034, 4874];
const systemCodes: readonly unknown[] = ["ENOSPC", "EDQUOT", "EFBIG"];

/** Reports whether a write failed because the disk is full, or a quota or a limit on file sizes was reached. */
export function isNoRoom(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return systemCodes.includes(code) || sqliteCodes.includes(errcode);
}

/**
 * Removes a draft that an error interrupted.
 * @param builtBytes size of a complete draft; 0 if it was not complete.
 * @returns the error to throw: `full` if the disk was, else the same error.
 */
export function abandonDraft(
  error: unknown,
  { path, folder, builtBytes }: { path: string; folder: string; builtBytes: number },
): unknown {
  const needed = Math.max(builtBytes, sizeOf(path));
  rmSync(path, { force: true });
  if (!isNoRoom(error)) return error;
  return new DatasetFault(fullWords(folder, needed, freeBytes(folder)), "full", { cause: error });
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
