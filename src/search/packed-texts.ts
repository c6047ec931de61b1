/** Many texts in one array of bytes, and binary search among them. */

/** Texts in UTF-8: text i begins at `starts[i]` and ends before `starts[i + 1]`. */
export interface PackedTexts {
  bytes: Uint8Array;
  starts: Uint32Array;
}

export function packTexts(texts: readonly string[]): PackedTexts {
  const starts = new Uint32Array(texts.length + 1);
  texts.forEach((text, i) => (starts[i + 1] = starts[i]! + Buffer.byteLength(text)));
  const bytes = new Uint8Array(starts[texts.length]!);
  const target = bufferOver(bytes);
  texts.forEach((text, i) => target.write(text, starts[i]!, "utf8"));
  return { bytes, starts };
}

export const bufferOver = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);

export const textCount = (texts: PackedTexts) => texts.starts.length - 1;

export function textAt({ bytes, starts }: PackedTexts, index: number): string {
  return bufferOver(bytes).toString("utf8", starts[index]!, starts[index + 1]!);
}

const surrogate = /[\ud800-\udfff]/;

/** Returns texts in the order of their UTF-8 bytes. */
export function sortByBytes(texts: Iterable<string>): string[] {
  const sorted = [...texts].sort();
  // Code units sort like the bytes, except that surrogates come before U+E000 to U+FFFF.
  if (!sorted.some((text) => surrogate.test(text))) return sorted;
  return sorted
    .map((text) => ({ text, bytes: Buffer.from(text) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
    .map(({ text }) => text);
}

/**
 * Returns the place of the first text that is not below `sought`, or the number of texts if all are below it. The texts
 * must be in byte order.
 */
export function lowerBound(texts: PackedTexts, sought: Uint8Array): number {
  let low = 0;
  let high = textCount(texts);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareAt(texts, middle, sought) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the place of the text that equals `sought`, or -1 if there is none. The texts must be in byte order. */
export function indexOfText(texts: PackedTexts, sought: Uint8Array): number {
  const index = lowerBound(texts, sought);
  return index < textCount(texts) && compareAt(texts, index, sought) === 0 ? index : -1;
}

function compareAt({ bytes, starts }: PackedTexts, index: number, sought: Uint8Array): number {
  const start = starts[index]!;
  const length = starts[index + 1]! - start;
  const shorter = Math.min(length, sought.length);
  for (let i = 0; i < shorter; i++) {
    const difference = bytes[start + i]! - sought[i]!;
    if (difference !== 0) return difference;
  }
  return length - sought.length;
}

export function endsWith(
  { bytes, starts }: PackedTexts,
  index: number,
  suffix: Uint8Array,
): boolean {
  const start = starts[index + 1]! - suffix.length;
  return start >= starts[index]! && standsAt(bytes, start, suffix);
}

export function holds({ bytes, starts }: PackedTexts, index: number, part: Uint8Array): boolean {
  const last = starts[index + 1]! - part.length;
  for (let at = starts[index]!; at <= last; at++) if (standsAt(bytes, at, part)) return true;
  return false;
}

function standsAt(bytes: Uint8Array, at: number, part: Uint8Array): boolean {
  for (let i = 0; i < part.length; i++) if (bytes[at + i] !== part[i]) return false;
  return true;
}
