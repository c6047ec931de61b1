/** Many lists of numbers in two arrays, and unions of such lists as sets. */
import {
  addBits,
  type Bitset,
  clear,
  type Combination,
  forEachBit,
  keptSet,
  makeBitset,
} from "./bitset.ts";
import { getOrCompute } from "./get-or-compute.ts";

/** Lists of numbers: list i begins at `items[starts[i]]` and ends before `items[starts[i + 1]]`. */
export interface Lists {
  starts: Uint32Array;
  items: Uint32Array;
}

/** Groups items below 2^32 into `count` lists, and keeps their order. @param owners number of each item's list. */
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

/** Opens a growable array of numbers below 2^32 outside the heap. A JavaScript array takes 2 to 4 times the memory. */
export function openNumbers(): { add(number: number): void; take(): Uint32Array<ArrayBuffer> } {
  let numbers = new Uint32Array(1024);
  let count = 0;
  return {
    add(number) {
      if (count === numbers.length) {
        const longer = new Uint32Array(count * 2);
        longer.set(numbers);
        // Freed at once: the garbage collector sees no pressure on its own heap and would wait.
        numbers.buffer.transfer(0);
        numbers = longer;
      }
      numbers[count++] = number;
    },
    take: () => numbers.slice(0, count),
  };
}

/**
 * Opens lists that grow in any order. A list skips an item that equals its last one. Only the last item of each list is
 * on the heap. `take` packs the lists; its `count` must exceed the number of every list that has items.
 */
export function openLists() {
  const owners = openNumbers();
  const items = openNumbers();
  const last: number[] = [];
  return {
    add(list: number, item: number): void {
      if (last[list] === item) return;
      last[list] = item;
      owners.add(list);
      items.add(item);
    },
    take: (count: number): Lists => packLists(count, owners.take(), items.take()),
  };
}

/** Returns the lists that each item below `count` is in. @param order lists in the order of their new numbers. */
export function invertLists(
  { starts, items }: Lists,
  count: number,
  order: Uint32Array = new Uint32Array(starts.length - 1).map((_, list) => list),
): Lists {
  const owners = new Uint32Array(items.length);
  const lists = new Uint32Array(items.length);
  let end = 0;
  order.forEach((list, number) => {
    const own = items.subarray(starts[list], starts[list + 1]);
    owners.set(own, end);
    lists.fill(number, end, (end += own.length));
  });
  return packLists(count, owners, lists);
}

/** Adds the items of some lists to a set. @param chosen numbers of the lists. */
export const addLists = (into: Bitset, { starts, items }: Lists, chosen: Combination): void =>
  forEachBit(chosen, (list) => addBits(into, items, starts[list]!, starts[list + 1]!));

/** Returns the first place from `low` whose number is at least `sought`; `high` if there is none before `high`. */
export function firstFrom(
  sorted: ArrayLike<number>,
  sought: number,
  low = 0,
  high = sorted.length,
): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < sought) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns a number's place in an ascending array, or -1 if the array lacks it. */
export function placeOf(sorted: ArrayLike<number>, sought: number): number {
  const place = firstFrom(sorted, sought);
  return sorted[place] === sought ? place : -1;
}

/** A union under construction: sets, including `own`, the set for single positions. */
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

/** Divisor: a list with over 1/128 of all positions is long. A set is at most 4 times as large, but far faster. */
const positionsOfList = 128;

export const isLong = (length: number, size: number): boolean => length * positionsOfList > size;

/**
 * Opens lists of positions to add to unions. A long list is kept as a set, so nothing is copied.
 * @param size one more than the greatest possible position.
 */
export function openPositionLists({ starts, items }: Lists, size: number) {
  // Built on first use: most are never needed. If a position is in n lists on average, fewer than 128n are long.
  const made = new Map<number, Bitset>();
  const makeSet = (list: number): Bitset =>
    keptSet(size, (bits) => addBits(bits, items, starts[list]!, starts[list + 1]!));
  return {
    addTo({ sets, own }: Union, list: number): void {
      const from = starts[list]!;
      const to = starts[list + 1]!;
      if (isLong(to - from, size)) sets.push(getOrCompute(made, list, makeSet));
      else addBits(own, items, from, to);
    },
  };
}
