/** Tells a file that merely cannot be read now from one that is wrong: its content may be whole. */
import { closeSync, openSync, readSync } from "node:fs";

/** What the system says to reading a file; null where it can be read, or is not there. */
export function whyNotRead(path: string): string | null {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    readSync(file, Buffer.alloc(1));
    return null;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? null : message;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Without a full stop. */
export const unreadWords = (path: string, why: string) =>
  `${path} could not be looked at: ${why}; it may be whole, so leave it as it is`;

export const unreadMend =
  "Run gp-records as the user who owns DATA_DIR, and see that this is a file that it may read, on a disk that does not fail (dmesg); then try again.";
