/** The files an import is given: their names in reports, whether they can be read, and their bytes. */
import { closeSync, createReadStream, openSync, statSync } from "node:fs";
import type { Encoding } from "./encoding.ts";
import { ImportFault } from "./import-fault.ts";

/** Means standard input among the files of a command. */
const standardInput = "-";

/** The name of a file in reports. */
export const shownName = (file: string) => (file === standardInput ? "<stdin>" : file);

const chunkBytes = 256 * 1024;

export const openSource = (file: string): AsyncIterable<Buffer> =>
  file === standardInput ? process.stdin : createReadStream(file, { highWaterMark: chunkBytes });

/**
 * Opens every file before any is read, so that a missing last one is noticed at once and not after an hour.
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
    // Opening and closing a pipe would break it for its writer.
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

/** Total size of the files as far as it is known beforehand; a pipe counts 0. */
export function knownBytes(files: readonly string[]): number {
  const sizes = files.map((file) => {
    const found = file === standardInput ? undefined : statSync(file);
    return found?.isFile() ? found.size : 0;
  });
  return sizes.reduce((a, b) => a + b, 0);
}

/** How to read the files. */
export interface ReadOptions {
  /** Encoding of the files; undefined where the operator named none. */
  encoding?: Encoding | undefined;
  /** Accepts a file without any record; otherwise it is refused, as most often something went wrong on its way. */
  allowsEmpty?: boolean;
}
