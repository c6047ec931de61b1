/** Tells a file that merely cannot be read now from one that is wrong: its content may be whole. */
import { closeSync, openSync, readSync } from "node:fs";
import { fail, type Finding } from "./check.ts";

/** A finding of the first of these files that is there and cannot be read; none where all can. */
export function unreadFile(paths: readonly string[]): Finding[] {
  const faults = paths.map((path) => ({ path, why: whyNotRead(path) }));
  const first = faults.find(({ why }) => why !== null);
  return first === undefined ? [] : [notLookedAt(first.path, first.why!)];
}

const notLookedAt = (path: string, why: string): Finding =>
  fail(
    `${path} could not be looked at: ${why}; it may be whole, so leave it as it is`,
    "Run doctor as the user who owns DATA_DIR, and see that this is a file that it may read, on a disk that does not fail (dmesg); then run doctor again.",
  );

function whyNotRead(path: string): string | null {
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
