/** Decodes files in the encodings that they may have, without losing or guessing a character. */
import { isUtf8 } from "node:buffer";
import { Unreadable } from "./import-fault.ts";

/** Encodings, each with the remedy for a file that turns out to have another. */
const remedies = {
  "utf-8": "add --encoding windows-1252 if the file has that encoding, or save it as UTF-8",
  "windows-1252": "save the file as UTF-8, and add --encoding utf-8",
  "iso-8859-1": "add --encoding windows-1252 if the file has that encoding",
};

export type Encoding = keyof typeof remedies;
export const encodings = Object.keys(remedies) as Encoding[];

/** C1 control characters. Text does not contain them, so a byte that decodes to one belongs to another encoding. */
const controls = /[\x80-\x9f]/;
const windows1252 = new TextDecoder("windows-1252");

/** Returns a function that decodes a line or a cell. It returns Unreadable if there is an invalid byte. */
export function decoderOf(encoding: Encoding): (bytes: Buffer) => string | Unreadable {
  return (bytes) => {
    const text = decode(bytes, encoding);
    const at = encoding === "utf-8" ? firstInvalidUtf8(bytes) : text.search(controls);
    if (at < 0) return text;
    const byte = bytes[at]!.toString(16).toUpperCase().padStart(2, "0");
    return new Unreadable(
      `is not ${encoding} at byte ${at + 1} (0x${byte}); ${remedies[encoding]}`,
    );
  };
}

function decode(bytes: Buffer, encoding: Encoding): string {
  if (encoding === "utf-8") return bytes.toString("utf8");
  // The Encoding Standard treats ISO 8859-1 as windows-1252, so a TextDecoder would give the wrong characters.
  return encoding === "iso-8859-1" ? bytes.toString("latin1") : windows1252.decode(bytes);
}

/** Returns the offset of the first byte that is not UTF-8 (RFC 3629), or -1 if all bytes are. */
function firstInvalidUtf8(bytes: Buffer): number {
  if (isUtf8(bytes)) return -1;
  const decoded = Buffer.from(bytes.toString("utf8"));
  let at = decoded.findIndex((byte, i) => byte !== bytes[i]);
  // Invalid bytes were decoded as U+FFFD, whose own first bytes may equal them.
  while ((decoded[at]! & 0xc0) === 0x80) at--;
  return at;
}
