/** Makes folders that only this user may enter. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder, and those above it, with mode 0700; one that is there stays as it is.
 * @throws NodeJS.ErrnoException naming the folder that cannot be made.
 */
export function makePrivateFolder(folder: string): void {
  if (existsSync(folder)) return;
  // Not `recursive`: where a folder exists that takes no new ones and says ENOENT (as /proc does), Node would try for ever.
  const parent = dirname(folder);
  if (parent !== folder) makePrivateFolder(parent);
  try {
    mkdirSync(folder, 0o700);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
