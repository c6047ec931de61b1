/** The files an import is given: what they are called, whether they can be read, and their bytes. */
import { closeSync, createReadStream, openSync, statSync } from "node:fs";
import type { Encoding } from "./encoding.ts";
import { ImportFault } from "./import-fault.ts";

/** Stands for standard input among the files of a command. */
const standardInput = "-";

/** What a report calls a file. */
export const shownName = (file: string) => (file === standardInput ? "<stdin>" : file);

const chunkBytes = 256 * 1024;

export const openSource = (file: string): AsyncIterable<Buffer> =>
  file === standardInput ? process.stdin : createReadStream(file, { highWaterMark: chunkBytes });

/**
 * Opens every file before any is read, so that the last of twelve is missed at once and not after an hour.
 * @throws ImportFault naming all that cannot be read.
 */
export function refuseUnreadable(files: readonly string[]): void {
  const faults = files.flatMap((file) => {
    const reason = file === standardInput ? undefined : whyUnreadable(file);
    return reason === undefined ? [] : [{ field: file, reason }];
  });
  const [first, ...others] = faults;
  if (first !== undefined) throw new ImportFault(first.field, null, first.reason, others);
}

function whyUnreadable(file: string): string | undefined {
  try {
    const found = statSync(file);
    if (found.isDirectory()) return reasons["EISDIR"];
    // Whoever opens a pipe and closes it again has taken it from its writer.
    if (found.isFile()) closeSync(openSync(file, "r"));
    return undefined;
  } catch (error) {
    return whyClosed(error as NodeJS.ErrnoException);
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "is a folder, not a file",
  EACCES: "may not be read by this user",
};

export const whyClosed = ({ code = "", message }: NodeJS.ErrnoException): string =>
  reasons[code] ?? `cannot be read: ${message}`;

/** Bytes of the files as far as they are known before they are read: nobody knows how much comes out of a pipe. */
export function knownBytes(files: readonly string[]): number {
  const sizes = files.map((file) => {
    const found = file === standardInput ? undefined : statSync(file);
    return found?.isFile() ? found.size : 0;
  });
  return sizes.reduce((a, b) => a + b, 0);
}

/** What the reader of a file is told beside its name. */
export interface ReadOptions {
  /** How the files are encoded; undefined where the operator did not say. */
  encoding?: Encoding | undefined;
  /** Lets a file be without any record; it is refused else, because most often something went wrong on its way. */
  allowsEmpty?: boolean;
}
