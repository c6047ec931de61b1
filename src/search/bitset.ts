/** Sets of record positions, with one bit for each position. They are cheap while they are nearly empty. */

export interface Bitset {
  /** Words of 32 bits: position p is bit p & 31 of word p >> 5. Signed, because V8 would convert unsigned words. */
  words: Int32Array;
  /** One flag for each block of 32 words: 1 if the block may have bits. Other blocks are zero and are skipped. */
  touched: Uint8Array;
  /** False if the set is sure to be empty. */
  isTouched: boolean;
}

const blockWords = 32;

/** Makes an empty set. It is allocated in whole blocks, so no loop needs to check for a partial block. */
export function makeBitset(size: number): Bitset {
  const blocks = (size + 1023) >>> 10;
  return {
    words: new Int32Array(blocks * blockWords),
    touched: new Uint8Array(blocks),
    isTouched: false,
  };
}

export function addBit(set: Bitset, position: number): void {
  set.words[position >>> 5]! |= 1 << (position & 31);
  set.touched[position >>> 10] = 1;
  set.isTouched = true;
}

/** Adds the positions from `positions[from]` up to, but not including, `positions[to]`. */
export function addBits(set: Bitset, positions: Uint32Array, from: number, to: number): void {
  const { words, touched } = set;
  if (from < to) set.isTouched = true;
  for (let i = from; i < to; i++) {
    const position = positions[i]!;
    words[position >>> 5]! |= 1 << (position & 31);
    touched[position >>> 10] = 1;
  }
}

/** Makes a set of every position below `size`. */
export function everyBit(size: number): Bitset {
  const set = makeBitset(size);
  set.words.fill(-1, 0, size >>> 5);
  if ((size & 31) !== 0) set.words[size >>> 5] = (1 << (size & 31)) - 1;
  set.touched.fill(1);
  set.isTouched = true;
  return set;
}

export function hasBit({ words }: Bitset, position: number): boolean {
  return (words[position >>> 5]! & (1 << (position & 31))) !== 0;
}

/** Clears a set all at once, which for tens of kilobytes is as fast as clearing it block by block. */
export function clear(set: Bitset): void {
  if (!set.isTouched) return;
  set.words.fill(0);
  set.touched.fill(0);
  set.isTouched = false;
}

/** Counts the bits in each half byte (Hacker's Delight, figure 5-2). */
function inHalfBytes(word: number): number {
  const inPairs = word - ((word >>> 1) & 0x55555555);
  return (inPairs & 0x33333333) + ((inPairs >>> 2) & 0x33333333);
}

const inBytes = (halfBytes: number) => (halfBytes & 0x0f0f0f0f) + ((halfBytes >>> 4) & 0x0f0f0f0f);

const sumOfBytes = (bytes: number) => Math.imul(bytes, 0x01010101) >>> 24;

const lowestBit = (word: number) => 31 - Math.clz32(word & -word);

/** Combination of sets that is counted, listed or stored like one set, block by block. All sets have the same size. */
export interface Combination {
  /** Sets, at least one of which must have the position. */
  some: readonly Bitset[];
  /** Lists of sets. At least one set of each list must have the position. */
  each: readonly (readonly Bitset[])[];
  /** Sets that must not have the position. */
  but: readonly Bitset[];
}

/** The current block and the block that narrows it down. Both stay in the processor's fastest cache. */
const [current, narrowing] = [new Int32Array(blockWords), new Int32Array(blockWords)];

/** Reads a block into `current`. Returns false if the block is sure to be empty. */
function readBlock({ some, each, but }: Combination, block: number): boolean {
  for (let i = 0; i < each.length; i++) if (!isAnyTouched(each[i]!, block)) return false;
  if (!uniteBlock(some, block, current)) return false;
  for (let i = 0; i < each.length; i++) narrowBlock(each[i]!, block);
  for (let i = 0; i < but.length; i++) {
    const { words, touched } = but[i]!;
    const from = block * blockWords;
    if (touched[block] !== 0)
      for (let word = 0; word < blockWords; word++) current[word]! &= ~words[from + word]!;
  }
  return true;
}

function isAnyTouched(sets: readonly Bitset[], block: number): boolean {
  for (let i = 0; i < sets.length; i++) if (sets[i]!.touched[block] !== 0) return true;
  return false;
}

/** Writes the union of the sets' blocks to `into`. Returns false, and writes nothing, if none of them is touched. */
function uniteBlock(sets: readonly Bitset[], block: number, into: Int32Array): boolean {
  const from = block * blockWords;
  let isFirst = true;
  for (let i = 0; i < sets.length; i++) {
    const { words, touched } = sets[i]!;
    if (touched[block] === 0) continue;
    if (isFirst) for (let word = 0; word < blockWords; word++) into[word] = words[from + word]!;
    else for (let word = 0; word < blockWords; word++) into[word]! |= words[from + word]!;
    isFirst = false;
  }
  return !isFirst;
}

/** Removes from the current block the positions that no set has. */
function narrowBlock(sets: readonly Bitset[], block: number): void {
  uniteBlock(sets, block, narrowing);
  for (let word = 0; word < blockWords; word++) current[word]! &= narrowing[word]!;
}

const blocksOf = ({ some }: Combination) => some[0]?.touched.length ?? 0;

/** Bit counts of sets that no longer change. */
const counts = new WeakMap<Bitset, number>();

/** Makes a set, fills it and keeps its bit count. The set must not change afterwards. */
export function keptSet(size: number, fill: (set: Bitset) => void): Bitset {
  const set = makeBitset(size);
  fill(set);
  counts.set(set, countBits(only(set)));
  return set;
}

/** Reports whether a set's count is kept, which means that the set no longer changes. */
export const isKept = (set: Bitset): boolean => counts.has(set);

export function countBits(found: Combination): number {
  const { some, each, but } = found;
  if (each.length > 0 || but.length > 0) return countBlocks(found);
  let largest: Bitset | undefined;
  for (const set of some)
    if ((counts.get(set) ?? 0) > (largest === undefined ? 0 : counts.get(largest)!)) largest = set;
  if (largest === undefined) return countBlocks(found);
  // Often the other sets have positions in only a few blocks, so few blocks have to be read.
  const others = some.filter((set) => set !== largest);
  return counts.get(largest)! + countBlocks({ some: others, each, but: [largest] });
}

function countBlocks(found: Combination): number {
  let count = 0;
  for (let block = 0, end = blocksOf(found); block < end; block++)
    if (readBlock(found, block)) count += countBlock();
  return count;
}

/** Counts the bits of the current block. Taking four words together is almost twice as fast as taking each alone. */
function countBlock(): number {
  let count = 0;
  for (let i = 0; i < blockWords; i += 4)
    count += sumOfBytes(
      inBytes(inHalfBytes(current[i]!) + inHalfBytes(current[i + 1]!)) +
        inBytes(inHalfBytes(current[i + 2]!) + inHalfBytes(current[i + 3]!)),
    );
  return count;
}

/** Calls `visit` for each position in ascending order. `visit` must not read a combination itself. */
export function forEachBit(found: Combination, visit: (position: number) => void): void {
  for (let block = 0, end = blocksOf(found); block < end; block++) {
    if (!readBlock(found, block)) continue;
    for (let i = 0; i < blockWords; i++)
      for (let word = current[i]!; word !== 0; word &= word - 1)
        visit((block * blockWords + i) * 32 + lowestBit(word));
  }
}

/**
 * Replaces the positions in a set with those of a combination. The set may be part of the combination.
 * @returns the number of positions.
 */
export function storeBits(set: Bitset, found: Combination): number {
  const { words, touched } = set;
  let count = 0;
  for (let block = 0; block < touched.length; block++) {
    const from = block * blockWords;
    const isFound = readBlock(found, block);
    if (isFound) {
      for (let i = 0; i < blockWords; i++) words[from + i] = current[i]!;
      count += countBlock();
    } else if (touched[block] !== 0) words.fill(0, from, from + blockWords);
    touched[block] = isFound ? 1 : 0;
  }
  set.isTouched = count > 0;
  return count;
}

/**
 * Appends the positions of a combination to `page`, except the first `skip`, until the page has `limit` positions.
 * @returns the number of positions still to skip in the next combination.
 */
export function pageOfBits(
  found: Combination,
  skip: number,
  limit: number,
  page: number[],
): number {
  for (let block = 0, end = blocksOf(found); block < end && page.length < limit; block++) {
    if (!readBlock(found, block)) continue;
    if (skip > 0) {
      const count = countBlock();
      if (skip >= count) {
        skip -= count;
        continue;
      }
    }
    for (let i = 0; i < blockWords && page.length < limit; i++) {
      for (let word = current[i]!; word !== 0 && page.length < limit; word &= word - 1)
        if (skip > 0) skip--;
        else page.push((block * blockWords + i) * 32 + lowestBit(word));
    }
  }
  return skip;
}

export const only = (set: Bitset): Combination => ({ some: [set], each: [], but: [] });
