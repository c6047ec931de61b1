/** Sets of record positions, one bit each, in typed arrays. */

/** Signed, because a number beyond 31 bits would cost V8 a conversion. */
export type Bitset = Int32Array;

export const makeBitset = (size: number): Bitset => new Int32Array((size + 31) >>> 5);

export function addBit(set: Bitset, position: number): void {
  set[position >>> 5]! |= 1 << (position & 31);
}

export function hasBit(set: Bitset, position: number): boolean {
  return (set[position >>> 5]! & (1 << (position & 31))) !== 0;
}

export function keepCommon(set: Bitset, other: Bitset): void {
  for (let i = 0; i < set.length; i++) set[i]! &= other[i]!;
}

/**
 * Leaves each position only in the first of the sets that has it.
 * @returns whether there is any.
 */
export function keepFirst(sets: readonly Bitset[]): boolean {
  let any = 0;
  const length = sets[0]!.length;
  for (let i = 0; i < length; i++) {
    let seen = 0;
    for (const set of sets) {
      const word = set[i]! & ~seen;
      set[i] = word;
      seen |= word;
    }
    any |= seen;
  }
  return any !== 0;
}

/** Bits set in one word; Hacker's Delight, figure 5-2. */
function countOf(word: number): number {
  word -= (word >>> 1) & 0x55555555;
  word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
  return (((word + (word >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

export function countBits(set: Bitset): number {
  let count = 0;
  for (let i = 0; i < set.length; i++) if (set[i] !== 0) count += countOf(set[i]!);
  return count;
}

/** Calls `visit` for each position in ascending order. */
export function forEachBit(set: Bitset, visit: (position: number) => void): void {
  for (let i = 0; i < set.length; i++)
    for (let word = set[i]!; word !== 0; word &= word - 1) visit(i * 32 + lowestBit(word));
}

const lowestBit = (word: number) => 31 - Math.clz32(word & -word);

/**
 * Appends to `page` the positions after the first `skip`, until it holds `limit`.
 * @returns how many of `skip` are left for the next set.
 */
export function pageOfBits(set: Bitset, skip: number, limit: number, page: number[]): number {
  for (let i = 0; i < set.length && page.length < limit; i++) {
    let word = set[i]!;
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
