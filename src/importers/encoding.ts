/** Decodes files in the encodings that they may have, without losing or guessing a character. */
import { isUtf8 } from "node:buffer";
import { Unreadable } from "./import-fault.ts";

export const encodings = ["utf-8", "windows-1252", "iso-8859-1"] as const;
export type Encoding = (typeof encodings)[number];

/** Function that decodes a line or a cell. Returns Unreadable if there is an invalid byte. */
type Decode = (bytes: Buffer) => string | Unreadable;

/** C1 control characters. Text does not contain them, so a byte that decodes to one belongs to another encoding. */
const controls = /[\x80-\x9f]/;
const windows1252 = new TextDecoder("windows-1252");

export function decoderOf(encoding: Encoding): Decode {
  if (encoding === "utf-8") return fromUtf8;
  return (bytes) => {
    // The Encoding Standard treats ISO 8859-1 as windows-1252, so a TextDecoder would give the wrong characters.
    const text = encoding === "iso-8859-1" ? bytes.toString("latin1") : windows1252.decode(bytes);
    const at = text.search(controls);
    if (at < 0) return text;
    return new Unreadable(`is not ${encoding} at ${byteWords(bytes, at)}`);
  };
}

function fromUtf8(bytes: Buffer): string | Unreadable {
  const invalidAt = firstInvalidUtf8(bytes);
  if (invalidAt === undefined) return bytes.toString("utf8");
  return new Unreadable(
    `is not UTF-8 at ${byteWords(bytes, invalidAt)}; add --encoding windows-1252 if the file has that encoding`,
  );
}

/** Returns the offset of the first byte that is not UTF-8 (RFC 3629). Returns undefined if all bytes are. */
export function firstInvalidUtf8(bytes: Buffer): number | undefined {
  if (isUtf8(bytes)) return undefined;
  const decoded = Buffer.from(bytes.toString("utf8"));
  let at = decoded.findIndex((byte, i) => byte !== bytes[i]);
  // The invalid bytes were decoded as U+FFFD, whose first bytes may be the same.
  while ((decoded[at]! & 0xc0) === 0x80) at--;
  return at;
}

/** Returns words for a byte, such as "byte 17 (0xE9)". They count bytes from 1. */
export function byteWords(bytes: Buffer, at: number): string {
  const value = (bytes[at] as number).toString(16).toUpperCase().padStart(2, "0");
  return `byte ${at + 1} (0x${value})`;
}
