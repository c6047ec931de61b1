/** The encodings a file may be in, and how a piece of it becomes text without a character lost or guessed. */
import { Unreadable } from "./unreadable.ts";
import { byteWords, firstInvalidUtf8 } from "./utf8.ts";

export const encodings = ["utf-8", "windows-1252", "iso-8859-1", "utf-16le"] as const;
export type Encoding = (typeof encodings)[number];

/** The text of a line or a cell, or which byte of it is no character. */
export type Decode = (bytes: Buffer) => string | Unreadable;

/** C1 controls: letters of another encoding, never meant. */
const controls = /[\x80-\x9f]/;
const windows1252 = new TextDecoder("windows-1252");

/** @param encoding of the file; source-bytes.ts has made UTF-8 of UTF-16 already. */
export function decoderOf(encoding: Encoding): Decode {
  if (encoding === "utf-8" || encoding === "utf-16le") return fromUtf8;
  return (bytes) => {
    // The standard of the web takes ISO 8859-1 for windows-1252, so a TextDecoder would read the wrong letters.
    const text = encoding === "iso-8859-1" ? bytes.toString("latin1") : windows1252.decode(bytes);
    const at = text.search(controls);
    if (at < 0) return text;
    return new Unreadable(`holds no character of ${encoding} at ${byteWords(bytes, at)}`);
  };
}

function fromUtf8(bytes: Buffer): string | Unreadable {
  const invalidAt = firstInvalidUtf8(bytes);
  if (invalidAt === undefined) return bytes.toString("utf8");
  return new Unreadable(
    `is not UTF-8 at ${byteWords(bytes, invalidAt)}; say --encoding windows-1252 if the file is in that`,
  );
}
