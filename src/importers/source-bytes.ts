/** Reads a file as a stream of bytes, without a byte order mark, and refuses what is no text file at all. */
import { createReadStream } from "node:fs";
import { ImportFault } from "./import-fault.ts";

const chunkBytes = 256 * 1024;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** How files begin, one character a byte, that are not the text somebody meant to send. */
const otherFormats: readonly (readonly [beginning: string, reason: string])[] = [
  ["\x1f\x8b", "is compressed with gzip; unpack it first"],
  ["PK\x03\x04", "is a zip archive or a spreadsheet; unpack it, or save the sheet as CSV"],
  ["\xff\xfe", "is in UTF-16; save it as UTF-8"],
  ["\xfe\xff", "is in UTF-16; save it as UTF-8"],
];
const webPage = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)/i;

/**
 * The bytes of a file in chunks, after the byte order mark if it has one.
 * @throws ImportFault where the file cannot be opened or is of another format.
 */
export async function* readBytes(file: string): AsyncGenerator<Buffer, void> {
  let begun = false;
  const stream: AsyncIterable<Buffer> = createReadStream(file, { highWaterMark: chunkBytes });
  try {
    for await (const chunk of stream) {
      if (begun) {
        yield chunk;
        continue;
      }
      begun = true;
      refuseOtherFormats(file, chunk);
      const marked = chunk.subarray(0, byteOrderMark.length).equals(byteOrderMark);
      yield marked ? chunk.subarray(byteOrderMark.length) : chunk;
    }
  } catch (error) {
    throw isSystemError(error) ? new ImportFault(file, null, whyClosed(error)) : error;
  }
}

function refuseOtherFormats(file: string, chunk: Buffer): void {
  const text = chunk.subarray(0, 200).toString("latin1");
  const reason = webPage.test(text)
    ? "is a web page, perhaps an error message of the site it came from"
    : otherFormats.find(([beginning]) => text.startsWith(beginning))?.[1];
  if (reason !== undefined) throw new ImportFault(file, null, reason);
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}

function whyClosed(error: NodeJS.ErrnoException): string {
  const reasons: Record<string, string> = {
    ENOENT: "there is no such file",
    EISDIR: "is a folder, not a file",
    EACCES: "may not be read by this user",
  };
  return reasons[error.code ?? ""] ?? `cannot be read: ${error.message}`;
}
