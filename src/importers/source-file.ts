/** Reads the files of an import, and refuses files that cannot be read or have another format. */
import { closeSync, createReadStream, openSync, statSync } from "node:fs";
import type { Encoding } from "./encoding.ts";
import { ImportFault } from "./import-fault.ts";

/** Name of standard input among the files of a command. */
const standardInput = "-";

/** Returns the name of a file in reports. */
export const shownName = (file: string) => (file === standardInput ? "<stdin>" : file);

const chunkBytes = 256 * 1024;

const openSource = (file: string): AsyncIterable<Buffer> =>
  file === standardInput ? process.stdin : createReadStream(file, { highWaterMark: chunkBytes });

/**
 * Checks every file before any is read, so that a missing last file is noticed at once rather than after an hour.
 * @throws ImportFault that names all files that do not exist or cannot be opened.
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

const whyClosed = ({ code = "", message }: NodeJS.ErrnoException): string =>
  reasons[code] ?? `cannot be read: ${message}`;

/** Returns the total size of the files in bytes. Standard input and pipes count as 0. */
export function knownBytes(files: readonly string[]): number {
  const sizes = files.map((file) => {
    const found = file === standardInput ? undefined : statSync(file);
    return found?.isFile() ? found.size : 0;
  });
  return sizes.reduce((a, b) => a + b, 0);
}

export interface ReadOptions {
  /** Encoding of the files; undefined if the operator named none. */
  encoding?: Encoding | undefined;
  /** True to accept a file without records, which is usually a mistake. */
  allowsEmpty?: boolean;
}

/** First bytes of files in other formats, one character for each byte. */
const otherFormats: readonly (readonly [beginning: string, reason: string])[] = [
  ["\x1f\x8b", "is compressed with gzip; unpack it first"],
  ["PK\x03\x04", "is a zip archive or a spreadsheet; unpack it, or save the sheet as CSV"],
  ["\xfe\xff", "is in UTF-16; save it as UTF-8"],
  ["\xff\xfe", "is in UTF-16; save it as UTF-8"],
];
const webPage = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)/i;
const utf8Mark = "\xef\xbb\xbf";

/** Number of bytes that reveal a file's format. A pipe may deliver them one by one. */
const beginningBytes = 200;

/**
 * Yields the bytes of a file in chunks, without a byte order mark.
 * @throws ImportFault if the file cannot be read, or begins like another format or encoding.
 */
export async function* readBytes(
  file: string,
  encoding: Encoding = "utf-8",
): AsyncGenerator<Buffer, void> {
  const name = shownName(file);
  try {
    yield* withoutMark(name, openSource(file), encoding);
  } catch (error) {
    const fault = error as NodeJS.ErrnoException;
    throw fault.syscall === undefined ? error : new ImportFault(name, null, whyClosed(fault));
  }
}

async function* withoutMark(
  name: string,
  chunks: AsyncIterable<Buffer>,
  encoding: Encoding,
): AsyncGenerator<Buffer, void> {
  let beginning: Buffer | null = Buffer.alloc(0);
  const begin = (first: Buffer) => first.subarray(markLength(name, first, encoding));
  for await (const chunk of chunks) {
    if (beginning === null) {
      yield chunk;
      continue;
    }
    beginning = beginning.length === 0 ? chunk : Buffer.concat([beginning, chunk]);
    if (beginning.length < beginningBytes) continue;
    yield begin(beginning);
    beginning = null;
  }
  if (beginning !== null) yield begin(beginning);
}

/**
 * Returns the length of a file's byte order mark in bytes; 0 if there is none.
 * @throws ImportFault if the file begins like another format or encoding.
 */
export function markLength(name: string, chunk: Buffer, encoding: Encoding): number {
  const text = chunk.toString("latin1", 0, beginningBytes);
  const hasMark = text.startsWith(utf8Mark);
  const reason = webPage.test(text)
    ? "is a web page, perhaps an error message from the site that served it"
    : otherFormats.find(([beginning]) => text.startsWith(beginning))?.[1];
  if (reason !== undefined) throw new ImportFault(name, null, reason);
  if (hasMark && encoding !== "utf-8")
    throw new ImportFault(
      name,
      null,
      `begins with the byte order mark of UTF-8, so it is not in ${encoding}`,
    );
  return hasMark ? utf8Mark.length : 0;
}
