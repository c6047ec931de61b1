/** Is there enough disk space for an import, and for what the server writes? */
import { statfsSync } from "node:fs";
import { bytesText, type Check, fail, type Finding, ok, warn } from "./check.ts";
import { nearestFolder } from "./data-folder.ts";
import { largestDatasetBytes } from "./dataset-files.ts";

/** For the draft, SQLite's temporary files while it builds indexes, and some growth. */
const importFactor = 3;
/** For counts, usage and keys with their write-ahead logs. */
const serverBytes = 64 * 1024 ** 2;
/** An import and the hours of counts that follow need far fewer. */
const filesMin = 100;

interface Space {
  freeBytes: number;
  /** Files that can still be created; null where the file system has no such limit. */
  freeFiles: number | null;
}

export const disk: Check = {
  name: "disk",
  look({ dataDir }) {
    const { bavail, bsize, files, ffree } = statfsSync(nearestFolder(dataDir));
    const space = { freeBytes: bavail * bsize, freeFiles: files === 0 ? null : ffree };
    return [judgeSpace(dataDir, space, importFactor * largestDatasetBytes(dataDir))];
  },
};

export function judgeSpace(
  dataDir: string,
  { freeBytes, freeFiles }: Space,
  importBytes: number,
): Finding {
  const free = `${bytesText(freeBytes)} are free on the disk of ${dataDir}`;
  const mend =
    "Free some space: `gp-records datasets prune` removes old datasets. Or move DATA_DIR to a larger disk.";
  if (freeBytes < serverBytes)
    return fail(`only ${free}; the server needs ${bytesText(serverBytes)} to write counts`, mend);
  if (freeFiles !== null && freeFiles < filesMin)
    return fail(`only ${freeFiles} more files can be made on the disk of ${dataDir}`, mend);
  if (freeBytes < importBytes)
    return warn(`only ${free}; an import may need ${bytesText(importBytes)}`, mend);
  return ok(importBytes === 0 ? free : `${free}; an import may need ${bytesText(importBytes)}`);
}
