/** Turns UTF-16 into UTF-8 as it streams by, and stops at the first bytes that are no character. */
import { ImportFault } from "./import-fault.ts";

const markBytes = 2;
const unitBytes = 2;
const lineEnds = /\n/g;
const firstLoneSurrogate = /\p{Surrogate}/u;

/**
 * @param chunks little-endian, without the byte order mark.
 * @throws ImportFault with line and byte of the file: one byte that is lost shifts all that follow, so no line can be trusted.
 */
export async function* utf8OfUtf16(
  file: string,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void> {
  let line = 1;
  let offset = markBytes;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole = bytes.length - unfinishedBytes(bytes);
    rest = bytes.subarray(whole);
    const text = bytes.toString("utf16le", 0, whole);
    if (!text.isWellFormed()) refuse(text.search(firstLoneSurrogate), text);
    line += text.match(lineEnds)?.length ?? 0;
    offset += whole;
    yield Buffer.from(text);
  }
  if (rest.length > 0) refuse(0, "");

  function refuse(at: number, text: string): never {
    const lineOfFault = line + (text.slice(0, at).match(lineEnds)?.length ?? 0);
    const byte = offset + at * unitBytes + 1;
    throw new ImportFault(
      file,
      lineOfFault,
      `is not UTF-16 at byte ${byte} of the file; it is damaged or cut off`,
    );
  }
}

/** Bytes at the end that only become a character with what follows: half a unit, or the first of two surrogates. */
function unfinishedBytes(bytes: Buffer): number {
  const odd = bytes.length % unitBytes;
  const last = bytes.length - odd - unitBytes;
  const isHighSurrogate = last >= 0 && (bytes.readUInt16LE(last) & 0xfc00) === 0xd800;
  return odd + (isHighSurrogate ? unitBytes : 0);
}
