/** Many short lists of numbers in two arrays. */
import { addBits, type Bitset, clear, keepCount, makeBitset } from "./bitset.ts";

/** List i is `items[starts[i]]` up to `items[starts[i + 1]]`. */
export interface Lists {
  starts: Uint32Array;
  items: Uint32Array;
}

/**
 * Groups pairs by their first member; within a group the order of the pairs stays.
 * @param owners list number of each pair, each below `count`.
 * @param items what belongs to it, at the same place; numbers below 2^32.
 */
export function packLists(
  count: number,
  owners: ArrayLike<number>,
  items: ArrayLike<number>,
): Lists {
  const starts = new Uint32Array(count + 1);
  for (let i = 0; i < owners.length; i++) starts[owners[i]! + 1]!++;
  for (let i = 0; i < count; i++) starts[i + 1]! += starts[i]!;
  const next = starts.slice(0, count);
  const packed = new Uint32Array(items.length);
  for (let i = 0; i < owners.length; i++) packed[next[owners[i]!]!++] = items[i]!;
  return { starts, items: packed };
}

/** Numbers below 2^32 in a growing array outside the heap, which a list of JavaScript would hold in twice to four times the memory. */
export function openNumbers(): { add(number: number): void; take(): Uint32Array<ArrayBuffer> } {
  let numbers = new Uint32Array(1024);
  let count = 0;
  return {
    add(number) {
      if (count === numbers.length) {
        const longer = new Uint32Array(count * 2);
        longer.set(numbers);
        // Freed now: the garbage collector sees no pressure on its own heap and would leave it.
        numbers.buffer.transfer(0);
        numbers = longer;
      }
      numbers[count++] = number;
    },
    take: () => numbers.slice(0, count),
  };
}

/**
 * The lists the other way round: for each item the lists that hold it.
 * @param count one more than the greatest item.
 * @param order the lists in the order in which they are numbered in the result.
 */
export function invertLists({ starts, items }: Lists, count: number, order: Uint32Array): Lists {
  const ends = new Uint32Array(count + 1);
  for (const item of items) ends[item + 1]!++;
  for (let i = 0; i < count; i++) ends[i + 1]! += ends[i]!;
  const next = ends.slice(0, count);
  const lists = new Uint32Array(items.length);
  order.forEach((list, number) => {
    for (let i = starts[list]!; i < starts[list + 1]!; i++) lists[next[items[i]!]!++] = number;
  });
  return { starts: ends, items: lists };
}

/** A union of sets in the making: whole sets, and single positions in a set of its own, which is one of them. */
export interface Union {
  sets: Bitset[];
  own: Bitset;
}

export function makeUnion(size: number): Union {
  const own = makeBitset(size);
  return { sets: [own], own };
}

export function emptyUnion({ sets, own }: Union): void {
  clear(own);
  sets.length = 1;
}

/** Lists of positions to add to unions. A long list is kept as a set itself, so that nothing is copied. */
export interface PositionLists {
  addTo(union: Union, list: number): void;
}

/** A list is long if it holds one position in so many: its set is four times as large then, and far faster to go through. */
const positionsOfList = 128;

export const isLong = (length: number, size: number): boolean => length * positionsOfList > size;

/** @param size one more than the greatest position there can be. */
export function openPositionLists({ starts, items }: Lists, size: number): PositionLists {
  // Built on first use, since most are never needed. There are at most 128 times as many as lists a position stands in.
  const made = new Map<number, Bitset>();
  const setOf = (list: number) => {
    let set = made.get(list);
    if (set === undefined) {
      set = makeBitset(size);
      addBits(set, items, starts[list]!, starts[list + 1]!);
      keepCount(set);
      made.set(list, set);
    }
    return set;
  };
  return {
    addTo({ sets, own }, list) {
      const from = starts[list]!;
      const to = starts[list + 1]!;
      if (isLong(to - from, size)) sets.push(setOf(list));
      else addBits(own, items, from, to);
    },
  };
}
