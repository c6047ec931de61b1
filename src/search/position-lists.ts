/** Lists of positions that are added to sets: a long list as a set, which is smaller and added in a fraction of the time. */
import { addBits, addSet, makeBitset, type Bitset } from "./bitset.ts";
import type { Lists } from "./lists.ts";

export interface PositionLists {
  addTo(set: Bitset, list: number): void;
}

/** Of a set that holds one position in so many, the words are fewer than the positions. */
const positionsOfWord = 32;

/** @param size one more than the greatest position there can be. */
export function openPositionLists({ starts, items }: Lists, size: number): PositionLists {
  // Made when they are first asked for: most never are. Together they are smaller than the lists.
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
