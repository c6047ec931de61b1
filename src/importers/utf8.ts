/** Says where bytes stop being UTF-8, so that nothing is ever read as a replacement character. */
import { isUtf8 } from "node:buffer";

/** Offset of the first byte that is not UTF-8, from 0; undefined where all are (RFC 3629). */
export function firstInvalidUtf8(bytes: Buffer): number | undefined {
  if (isUtf8(bytes)) return undefined;
  for (let at = 0; at < bytes.length;) {
    const end = at + sequenceBytes(bytes[at] as number);
    if (!isUtf8(bytes.subarray(at, end))) return at;
    at = end;
  }
  return undefined;
}

/** How long a sequence is that begins with this byte. */
function sequenceBytes(first: number): number {
  if (first < 0xc0) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}

/** "byte 17 (0xE9)", counted from 1. */
export function byteWords(bytes: Buffer, at: number): string {
  const value = (bytes[at] as number).toString(16).toUpperCase().padStart(2, "0");
  return `byte ${at + 1} (0x${value})`;
}
