/** Creates folders that only this user may enter. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates a folder, and those above it, with mode 0700; existing ones stay as they are.
 * @throws NodeJS.ErrnoException naming the folder that cannot be created.
 */
export function makePrivateFolder(folder: string): void {
  if (existsSync(folder)) return;
  // Not `recursive`: in a folder that refuses new ones with ENOENT, as /proc does, Node would try for ever.
  const parent = dirname(folder);
  if (parent !== folder) makePrivateFolder(parent);
  try {
    mkdirSync(folder, 0o700);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
