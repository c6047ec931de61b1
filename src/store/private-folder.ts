/** Creates folders that only this user may enter. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates a folder, and missing ones above it, with mode 0700. Existing folders stay as they are.
 * @throws NodeJS.ErrnoException naming the folder that cannot be created.
 */
export function makePrivateFolder(folder: string): void {
  if (existsSync(folder)) return;
  // Not `recursive`: Node would try for ever in a folder that refuses new ones with ENOENT, as /proc does.
  const parent = dirname(folder);
  if (parent !== folder) makePrivateFolder(parent);
  try {
    mkdirSync(folder, 0o700);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
