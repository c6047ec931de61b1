/** Decodes the cells of a file, each on its own, so that one bad byte costs one row and is named. */
import { decoderOf, type Encoding } from "./encoding.ts";
import type { Unreadable } from "./unreadable.ts";

const beyondAscii = /[\x80-\xff]/;

/** A function from the bytes of a cell, one character each (ISO 8859-1), to its text. */
export function cellDecoder(encoding: Encoding): (bytes: string) => string | Unreadable {
  const decode = decoderOf(encoding);
  return (bytes) => (beyondAscii.test(bytes) ? decode(Buffer.from(bytes, "latin1")) : bytes);
}
