/** The files an import is given: their names in reports, whether they can be read, and their bytes without a byte order mark. */
import { closeSync, createReadStream, openSync, statSync } from "node:fs";
import type { Encoding } from "./encoding.ts";
import { ImportFault } from "./import-fault.ts";

/** Means standard input among the files of a command. */
const standardInput = "-";

/** The name of a file in reports. */
export const shownName = (file: string) => (file === standardInput ? "<stdin>" : file);

const chunkBytes = 256 * 1024;

const openSource = (file: string): AsyncIterable<Buffer> =>
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

const whyClosed = ({ code = "", message }: NodeJS.ErrnoException): string =>
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

/** How files of other formats begin, one character for each byte. */
const otherFormats: readonly (readonly [beginning: string, reason: string])[] = [
  ["\x1f\x8b", "is compressed with gzip; unpack it first"],
  ["PK\x03\x04", "is a zip archive or a spreadsheet; unpack it, or save the sheet as CSV"],
  ["\xfe\xff", "is in big-endian UTF-16; save it as UTF-8"],
];
const webPage = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)/i;
const utf8Mark = "\xef\xbb\xbf";
const utf16Mark = "\xff\xfe";

/** Enough of a file to show what it is; a pipe may deliver it byte by byte. */
const beginningBytes = 200;

/**
 * The bytes of a file in chunks, without a byte order mark; UTF-16 is converted to UTF-8.
 * @param encoding that the operator named; null for a file that is always UTF-8.
 * @throws ImportFault where the file cannot be opened, or is of another format or encoding.
 */
export async function* readBytes(
  file: string,
  encoding: Encoding | null = null,
): AsyncGenerator<Buffer, void> {
  const name = shownName(file);
  try {
    const bytes = withoutMark(name, openSource(file), encoding);
    yield* encoding === "utf-16le" ? utf8OfUtf16(name, bytes) : bytes;
  } catch (error) {
    throw isSystemError(error) ? new ImportFault(name, null, whyClosed(error)) : error;
  }
}

async function* withoutMark(
  name: string,
  chunks: AsyncIterable<Buffer>,
  encoding: Encoding | null,
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

/** Length of the byte order mark that a file begins with. */
function markLength(name: string, chunk: Buffer, encoding: Encoding | null): number {
  const text = chunk.toString("latin1", 0, beginningBytes);
  const reason = webPage.test(text)
    ? "is a web page, perhaps an error message of the site it came from"
    : (otherFormats.find(([beginning]) => text.startsWith(beginning))?.[1] ??
      markFault(text, encoding));
  if (reason !== undefined) throw new ImportFault(name, null, reason);
  if (text.startsWith(utf16Mark)) return utf16Mark.length;
  return text.startsWith(utf8Mark) ? utf8Mark.length : 0;
}

/** A byte order mark tells the encoding for certain, whatever the operator said. */
function markFault(text: string, encoding: Encoding | null): string | undefined {
  const isUtf16 = text.startsWith(utf16Mark);
  if (encoding === "utf-16le")
    return isUtf16 ? undefined : "does not begin with the byte order mark of utf-16le (FF FE)";
  if (isUtf16)
    return `is in UTF-16; save it as UTF-8${encoding === null ? "" : ", or say --encoding utf-16le"}`;
  const isOther = encoding !== null && encoding !== "utf-8" && text.startsWith(utf8Mark);
  return isOther
    ? `begins with the byte order mark of UTF-8, so it is not in ${encoding}`
    : undefined;
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}

/**
 * Converts a stream from UTF-16 to UTF-8.
 * @param chunks little-endian, without the byte order mark.
 * @throws ImportFault for half a character, as one lost byte shifts everything after it.
 */
export async function* utf8OfUtf16(
  file: string,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void> {
  const decoder = new TextDecoder("utf-16le", { fatal: true, ignoreBOM: true });
  try {
    for await (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }));
    yield Buffer.from(decoder.decode());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_ENCODING_INVALID_ENCODED_DATA") throw error;
    throw new ImportFault(file, null, "is not UTF-16; it is damaged or cut off");
  }
}
