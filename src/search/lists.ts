/** Many short lists of numbers in two arrays. */
import { addBits, addSet, type Bitset, makeBitset } from "./bitset.ts";

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

/** Lists of positions to add to sets. A long list is kept as a set itself, which is smaller and much faster to add. */
export interface PositionLists {
  addTo(set: Bitset, list: number): void;
}

/** A set that holds more than one position in so many has fewer words than the list has positions. */
const positionsOfWord = 32;

/** @param size one more than the greatest position there can be. */
export function openPositionLists({ starts, items }: Lists, size: number): PositionLists {
  // Built on first use, since most are never needed. Together they are smaller than the lists.
  const made = new Map<number, Bitset>();
  const setOf = (list: number) => {
    let set = made.get(list);
    if (set === undefined) {
      set = makeBitset(size);
      addBits(set, items, starts[list]!, starts[list + 1]!);
      made.set(list, set);
    }
    return set;
  };
  return {
    addTo(set, list) {
      const from = starts[list]!;
      const to = starts[list + 1]!;
      if ((to - from) * positionsOfWord > size) addSet(set, setOf(list));
      else addBits(set, items, from, to);
    },
  };
}
