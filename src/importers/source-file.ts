/** Reads the files of an import, and refuses files that cannot be read or have another format. */
import { closeSync, createReadStream, openSync, statSync } from "node:fs";
import type { Encoding } from "./encoding.ts";
import { ImportFault } from "./import-fault.ts";

/** Name of standard input among the files of a command. */
const standardInput = "-";

export const shownName = (file: string) => (file === standardInput ? "<stdin>" : file);

/** Number of bytes to read at once. As text they take less than 128 KiB, and V8 frees larger text later. */
const chunkBytes = 96 * 1024;

const openSource = (file: string): AsyncIterable<Buffer> =>
  file === standardInput ? process.stdin : createReadStream(file, { highWaterMark: chunkBytes });

/**
 * Checks every file before any is read, so that a missing last file is noticed at once rather than after an hour.
 * @throws ImportFault with the names of all files that do not exist, are folders or cannot be opened.
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
  ENOENT: "there is no such file; check the path",
  EISDIR: "is a folder; name the files in it",
  EACCES: "cannot be read by this user; give the user read access",
};

/** Returns why a file could not be opened, and what to do. */
export const whyClosed = ({ code = "", message }: NodeJS.ErrnoException): string =>
  reasons[code] ?? `cannot be read: ${message}`;

export interface ReadOptions {
  /** Encoding of the files; undefined if the operator named none. */
  encoding?: Encoding | undefined;
  /** True to accept a file without records, which is usually a mistake. */
  allowsEmpty?: boolean;
}

const utf8Mark = "\xef\xbb\xbf";

/** Formats that are refused, by the first bytes of a file. A pattern sees each byte as one character. */
const otherFormats: readonly (readonly [beginning: RegExp, reason: string])[] = [
  [/^\x1f\x8b/, "is compressed with gzip; unpack it first"],
  [/^PK\x03\x04|^\xd0\xcf\x11/, "is a zip archive or a spreadsheet; unpack it or save it as CSV"],
  [/^(?:\xfe\xff|\xff\xfe)/, "is in UTF-16; save it as UTF-8"],
  [
    /^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|(?:\?xml[^>]*>\s*<)?Error>)/i,
    "is a web page, or an error message of the site it came from; download the file again",
  ],
];

/** Returns why a file with this beginning is refused, and what to do. Returns undefined if its format may be read. */
export const whyOtherFormat = (beginning: string): string | undefined =>
  otherFormats.find(([shape]) => shape.test(beginning))?.[1];

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
  const withoutMark = (first: Buffer) => first.subarray(markLength(name, first, encoding));
  /** First bytes, until there are enough to recognise the format; null once they have been yielded. */
  let beginning: Buffer | null = Buffer.alloc(0);
  try {
    for await (const chunk of openSource(file)) {
      if (beginning === null) {
        yield chunk;
        continue;
      }
      beginning = Buffer.concat([beginning, chunk]);
      if (beginning.length < beginningBytes) continue;
      yield withoutMark(beginning);
      beginning = null;
    }
    if (beginning !== null) yield withoutMark(beginning);
  } catch (error) {
    const fault = error as NodeJS.ErrnoException;
    throw fault.syscall === undefined ? error : new ImportFault(name, null, whyClosed(fault));
  }
}

/**
 * Returns the length of a file's byte order mark in bytes; 0 if there is none.
 * @throws ImportFault if the file begins like another format or encoding.
 */
export function markLength(name: string, chunk: Buffer, encoding: Encoding): number {
  const text = chunk.toString("latin1", 0, beginningBytes);
  const reason = whyOtherFormat(text);
  if (reason !== undefined) throw new ImportFault(name, null, reason);
  if (!text.startsWith(utf8Mark)) return 0;
  if (encoding === "utf-8") return utf8Mark.length;
  throw new ImportFault(
    name,
    null,
    `begins with the byte order mark of UTF-8, so it is not ${encoding}; add --encoding utf-8`,
  );
}
