/** Which GPs answer to a folded name, and how well: one set of GPs for each rank. */
import { addBits, makeBitset, type Bitset } from "./bitset.ts";
import { matchSeveralWords } from "./match-several-words.ts";
import { matchWord, type WordMatch } from "./match-words.ts";
import type { NameIndex } from "./name-index.ts";
import { openPositionLists, type PositionLists } from "./position-lists.ts";
import { ranks } from "./ranks.ts";

/** The index, and what is derived from it for the one model that searches it. */
export interface Names {
  index: NameIndex;
  /** Word → GPs, as in the index. */
  first: PositionLists;
  later: PositionLists;
  /** Two sets of GPs for whoever needs them for a moment. */
  scratch: readonly [Bitset, Bitset];
}

export const openNames = (index: NameIndex, gpCount: number): Names => ({
  index,
  first: openPositionLists(index.gpsOfWord.first, gpCount),
  later: openPositionLists(index.gpsOfWord.later, gpCount),
  scratch: [makeBitset(gpCount), makeBitset(gpCount)],
});

/**
 * Adds every GP that answers to the set of each rank one of its names has.
 * @param query folded, not empty.
 * @param sets one for each rank, empty; a GP may end up in several, the best counts.
 */
export function matchNames(names: Names, query: string, sets: readonly Bitset[]): void {
  const words = query.split(" ").map((word) => matchWord(names.index, word));
  if (words.length === 1) matchOneWord(names, words[0]!, sets);
  else matchSeveralWords(names, words, sets);
}

/** The place of a word decides the rank, so no name is looked at. */
function matchOneWord(
  { index, first, later }: Names,
  match: WordMatch,
  sets: readonly Bitset[],
): void {
  const { starts, items } = index.gpsOfWord.alone;
  if (match.equal !== -1)
    addBits(sets[ranks.equal]!, items, starts[match.equal]!, starts[match.equal + 1]!);
  for (let word = match.from; word < match.to; word++) {
    first.addTo(sets[ranks.begins]!, word);
    later.addTo(sets[ranks.startOfWord]!, word);
  }
  for (const word of match.inside) {
    first.addTo(sets[ranks.insideWord]!, word);
    later.addTo(sets[ranks.insideWord]!, word);
  }
}
