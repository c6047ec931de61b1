/** What to say of a file that merely cannot be read now. */
import { unreadMend, unreadWords, whyNotRead } from "#datasets/unread-file.ts";
import { fail, type Finding } from "./check.ts";

/** A finding of the first of these files that is there and cannot be read; none where all can. */
export function unreadFile(paths: readonly string[]): Finding[] {
  const faults = paths.map((path) => ({ path, why: whyNotRead(path) }));
  const first = faults.find(({ why }) => why !== null);
  return first === undefined ? [] : [fail(unreadWords(first.path, first.why!), unreadMend)];
}
