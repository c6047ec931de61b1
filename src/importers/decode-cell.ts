/** Decodes the cells of a file, each on its own, so that one bad byte costs one row and is named. */
import type { Encoding } from "./mapping.ts";
import { Unreadable } from "./unreadable.ts";
import { byteWords, firstInvalidUtf8 } from "./utf8.ts";

const beyondAscii = /[\x80-\xff]/;
/** C1 controls: letters of another encoding, never meant. */
const controls = /[\x80-\x9f]/;
const windows1252 = new TextDecoder("windows-1252");

/** A function from the bytes of a cell, one character each (ISO 8859-1), to its text. */
export function cellDecoder(encoding: Encoding): (bytes: string) => string | Unreadable {
  const decode = encoding === "utf-8" ? fromUtf8 : fromSingleBytes(encoding);
  return (bytes) => (beyondAscii.test(bytes) ? decode(bytes) : bytes);
}

function fromUtf8(cell: string): string | Unreadable {
  const bytes = Buffer.from(cell, "latin1");
  const invalidAt = firstInvalidUtf8(bytes);
  if (invalidAt === undefined) return bytes.toString("utf8");
  return new Unreadable(
    `is not UTF-8 at ${byteWords(bytes, invalidAt)}; if the file is in windows-1252, give the mapping that "encoding"`,
  );
}

function fromSingleBytes(encoding: Exclude<Encoding, "utf-8">) {
  return (cell: string): string | Unreadable => {
    const text = encoding === "latin1" ? cell : windows1252.decode(Buffer.from(cell, "latin1"));
    const at = text.search(controls);
    if (at < 0) return text;
    const where = byteWords(Buffer.from(cell, "latin1"), at);
    return new Unreadable(`holds no character of ${encoding} at ${where}`);
  };
}
