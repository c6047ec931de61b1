/** Recognizes a full disk, and says what to do about it. */
import { statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { grouped } from "#words.ts";
import { draftName, draftTextsName } from "./catalogue.ts";
import { DatasetFault } from "./dataset-fault.ts";

/** SQLite's codes for a full disk, and for failing to write, sync or grow a file because of a quota or `ulimit -f`. */
const sqliteCodes: readonly unknown[] = [13, 778, 1034, 4874];
const systemCodes: readonly unknown[] = ["ENOSPC", "EDQUOT", "EFBIG"];

/** Reports whether a write failed because the disk is full, or a quota or a limit on file sizes was reached. */
export function isNoRoom(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return systemCodes.includes(code) || sqliteCodes.includes(errcode);
}

/**
 * Removes the draft in a folder after an error.
 * @param remove function that removes all files of the draft.
 * @returns the error to throw: DatasetFault `full` if there was no room, otherwise the given error.
 */
export function abandonDraft(error: unknown, folder: string, remove: () => void): unknown {
  const written = sizeOf(join(folder, draftName)) + sizeOf(join(folder, draftTextsName));
  remove();
  if (!isNoRoom(error)) return error;
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const advice =
    free > 2 * written
      ? "Since the disk has room, a quota or a limit on file sizes (ulimit -f) was reached, or the folder for temporary files (TMPDIR) is full: raise the quota or the limit, or free some space in that folder"
      : "Free some space on that disk; 'gp-records datasets prune' removes old datasets";
  return new DatasetFault(
    `The new dataset could not be written to ${folder} after ${grouped(written)} bytes; the disk has ${grouped(free)} bytes free. Nothing was published. ${advice}.`,
    "full",
    { cause: error },
  );
}

export const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
