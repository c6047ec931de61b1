/** What is in the data folder before a restore. */
import { copyFileSync, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { restoredNames } from "./restore-folders.ts";

/** The names of what a restore would replace; an empty folder of datasets or counts is nothing. */
export const presentNames = (dataDir: string): string[] =>
  restoredNames.filter((name) => {
    const stats = statSync(join(dataDir, name), { throwIfNoEntry: false });
    return stats?.isDirectory() === true
      ? readdirSync(join(dataDir, name)).length > 0
      : stats !== undefined;
  });

/** What was used of the quotas stays used, so that nobody gains by a restore. */
export function copyCounts(dataDir: string, folder: string): void {
  const counts = join(dataDir, "counts");
  if (!existsSync(counts)) return;
  for (const name of readdirSync(counts)) copyFileSync(join(counts, name), join(folder, name));
}
