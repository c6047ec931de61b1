/** What to say of a file that merely cannot be read now. */
import { unread } from "#datasets/unread-file.ts";
import { fail, type Finding } from "./check.ts";

/** A finding of the first of these files that is there and cannot be read; none where all can. */
export function unreadFile(paths: readonly string[]): Finding[] {
  const first = paths.map(unread).find((found) => found !== null);
  return first === undefined ? [] : [fail(first.fault, first.mend)];
}
