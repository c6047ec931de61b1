/** Sets of record positions, one bit each, that are cheap while they are nearly empty. */

export interface Bitset {
  /** Position p is bit p & 31 of word p >> 5. Signed, because a number beyond 31 bits would cost V8 a conversion. */
  words: Int32Array;
  /** Whether a block of 32 words may hold any bit; the other blocks are zero and skipped. */
  touched: Uint8Array;
}

const blockWords = 32;

/** Allocated in whole blocks, so that no loop needs to check for a partial one. */
export function makeBitset(size: number): Bitset {
  const blocks = (size + 1023) >>> 10;
  return { words: new Int32Array(blocks * blockWords), touched: new Uint8Array(blocks) };
}

export function addBit({ words, touched }: Bitset, position: number): void {
  words[position >>> 5]! |= 1 << (position & 31);
  touched[position >>> 10] = 1;
}

/** Adds `positions[from]` up to `positions[to]`. */
export function addBits(
  { words, touched }: Bitset,
  positions: Uint32Array,
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) {
    const position = positions[i]!;
    words[position >>> 5]! |= 1 << (position & 31);
    touched[position >>> 10] = 1;
  }
}

/** Adds every position below `size`. */
export function addEvery({ words, touched }: Bitset, size: number): void {
  words.fill(-1, 0, size >>> 5);
  if ((size & 31) !== 0) words[size >>> 5] = (1 << (size & 31)) - 1;
  touched.fill(1);
}

export function addSet({ words, touched }: Bitset, other: Bitset): void {
  for (let block = 0; block < touched.length; block++) {
    if (other.touched[block] === 0) continue;
    touched[block] = 1;
    for (let i = block * blockWords; i < (block + 1) * blockWords; i++)
      words[i]! |= other.words[i]!;
  }
}

export function hasBit({ words }: Bitset, position: number): boolean {
  return (words[position >>> 5]! & (1 << (position & 31))) !== 0;
}

export function clear({ words, touched }: Bitset): void {
  for (let block = 0; block < touched.length; block++) {
    if (touched[block] === 0) continue;
    touched[block] = 0;
    for (let i = block * blockWords; i < (block + 1) * blockWords; i++) words[i] = 0;
  }
}

export function keepCommon({ words, touched }: Bitset, other: Bitset): void {
  for (let block = 0; block < touched.length; block++) {
    if (touched[block] === 0) continue;
    for (let i = block * blockWords; i < (block + 1) * blockWords; i++)
      words[i]! &= other.words[i]!;
  }
}

/** Removes what `seen` already holds, and adds the rest to `seen`. */
export function keepUnseen({ words, touched }: Bitset, seen: Bitset): void {
  for (let block = 0; block < touched.length; block++) {
    if (touched[block] === 0) continue;
    seen.touched[block] = 1;
    for (let i = block * blockWords; i < (block + 1) * blockWords; i++) {
      const word = words[i]! & ~seen.words[i]!;
      words[i] = word;
      seen.words[i]! |= word;
    }
  }
}

/** How many bits each half byte has; Hacker's Delight, figure 5-2. */
function inHalfBytes(word: number): number {
  const inPairs = word - ((word >>> 1) & 0x55555555);
  return (inPairs & 0x33333333) + ((inPairs >>> 2) & 0x33333333);
}

const inBytes = (halfBytes: number) => (halfBytes & 0x0f0f0f0f) + ((halfBytes >>> 4) & 0x0f0f0f0f);

const sumOfBytes = (bytes: number) => Math.imul(bytes, 0x01010101) >>> 24;

const countOf = (word: number) => sumOfBytes(inBytes(inHalfBytes(word)));

export function countBits({ words, touched }: Bitset): number {
  let count = 0;
  for (let block = 0; block < touched.length; block++) {
    if (touched[block] === 0) continue;
    // Four words are summed while their counts still fit into half bytes and bytes: almost twice as fast.
    for (let i = block * blockWords; i < (block + 1) * blockWords; i += 4)
      count += sumOfBytes(
        inBytes(inHalfBytes(words[i]!) + inHalfBytes(words[i + 1]!)) +
          inBytes(inHalfBytes(words[i + 2]!) + inHalfBytes(words[i + 3]!)),
      );
  }
  return count;
}

/** Calls `visit` for each position in ascending order. */
export function forEachBit({ words, touched }: Bitset, visit: (position: number) => void): void {
  for (let block = 0; block < touched.length; block++) {
    if (touched[block] === 0) continue;
    for (let i = block * blockWords; i < (block + 1) * blockWords; i++)
      for (let word = words[i]!; word !== 0; word &= word - 1) visit(i * 32 + lowestBit(word));
  }
}

const lowestBit = (word: number) => 31 - Math.clz32(word & -word);

/**
 * Appends to `page` the positions after the first `skip`, until it holds `limit`.
 * @returns how many of `skip` are left for the next set.
 */
export function pageOfBits(
  { words, touched }: Bitset,
  skip: number,
  limit: number,
  page: number[],
): number {
  for (let i = 0; i < words.length && page.length < limit; i++) {
    if (touched[i >>> 5] === 0) {
      i |= blockWords - 1;
      continue;
    }
    let word = words[i]!;
    if (word === 0) continue;
    const count = countOf(word);
    if (skip >= count) {
      skip -= count;
      continue;
    }
    for (; word !== 0 && page.length < limit; word &= word - 1)
      if (skip > 0) skip--;
      else page.push(i * 32 + lowestBit(word));
  }
  return skip;
}
