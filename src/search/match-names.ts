/** Which GPs match a folded name, and how well: one set of GPs for each rank. */
import {
  addBit,
  addBits,
  type Bitset,
  clear,
  countBits,
  forEachBit,
  keepCommon,
  makeBitset,
} from "./bitset.ts";
import { openPositionLists, type PositionLists } from "./lists.ts";
import { answers, matchWord, type WordMatch } from "./match-words.ts";
import type { NameIndex } from "./name-index.ts";
import { endsWith } from "./packed-texts.ts";

/** The index, and what one model derives from it to search it. */
interface Names {
  index: NameIndex;
  /** Word → GPs, as in the index. */
  first: PositionLists;
  later: PositionLists;
  /** Two sets for intermediate results. */
  scratch: readonly [Bitset, Bitset];
}

export const openNames = (index: NameIndex, gpCount: number): Names => ({
  index,
  first: openPositionLists(index.gpsOfWord.first, gpCount),
  later: openPositionLists(index.gpsOfWord.later, gpCount),
  scratch: [makeBitset(gpCount), makeBitset(gpCount)],
});

/**
 * Adds every matching GP to the set of each rank that one of its names has.
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

/** Narrowing all GPs down by another word takes as long as looking at one GP in so many. */
const gpsOfLook = 1024;

function matchSeveralWords(
  names: Names,
  matches: readonly WordMatch[],
  sets: readonly Bitset[],
): void {
  const { index } = names;
  forEachBit(findCandidates(names, matches), (gp) => {
    const rank = bestRank(index, gp, matches);
    if (rank !== undefined) addBit(sets[rank]!, gp);
  });
}

/** GPs that have every word, possibly in different names, or few more than those. */
function findCandidates(names: Names, matches: readonly WordMatch[]): Bitset {
  const [candidates, others] = names.scratch;
  const [rarest, ...more] = matches.toSorted((a, b) => a.gpCount - b.gpCount);
  const few = names.index.firstNameOfGp.length / gpsOfLook;
  clear(candidates);
  addGps(names, candidates, rarest!);
  let count = rarest!.gpCount;
  for (const match of more) {
    if (count <= few) break;
    clear(others);
    addGps(names, others, match);
    keepCommon(candidates, others);
    count = countBits(candidates);
  }
  return candidates;
}

function addGps({ first, later }: Names, gps: Bitset, { from, to, inside }: WordMatch): void {
  const add = (word: number) => {
    first.addTo(gps, word);
    later.addTo(gps, word);
  };
  for (let word = from; word < to; word++) add(word);
  for (const word of inside) add(word);
}

/** Undefined where none of its names holds all words. */
function bestRank(index: NameIndex, gp: number, matches: readonly WordMatch[]): Rank | undefined {
  let best: Rank | undefined;
  for (let name = index.firstNameOfGp[gp]!; name < index.firstNameOfGp[gp + 1]!; name++) {
    if (!holdsAll(index, name, matches)) continue;
    const rank = rankOf(index, name, matches);
    if (best === undefined || rank < best) best = rank;
  }
  return best;
}

function holdsAll(
  { wordsOfName: { starts, items } }: NameIndex,
  name: number,
  matches: readonly WordMatch[],
): boolean {
  const start = starts[name]!;
  const end = starts[name + 1]!;
  for (const match of matches) {
    let at = start;
    while (at < end && !answers(match, items[at]!)) at++;
    if (at === end) return false;
  }
  return true;
}

/** Rank of a name that holds all words: the best place at which they stand as one. */
function rankOf(index: NameIndex, name: number, matches: readonly WordMatch[]): Rank {
  const { starts, items } = index.wordsOfName;
  const start = starts[name]!;
  const end = starts[name + 1]!;
  let best: Rank = ranks.apart;
  for (let at = start; at + matches.length <= end; at++) {
    if (!followsFrom(items, at, matches)) continue;
    const word = items[at]!;
    if (word === matches[0]!.equal) {
      if (at > start) return ranks.startOfWord;
      const isWhole = matches.length === end - start && items[end - 1] === matches.at(-1)!.equal;
      return isWhole ? ranks.equal : ranks.begins;
    }
    if (endsWith(index.words, word, matches[0]!.sought)) best = ranks.insideWord;
  }
  return best;
}

/** Do the words after the first stand at `at + 1` on: whole, and the last at least begun? */
function followsFrom(items: Uint32Array, at: number, matches: readonly WordMatch[]): boolean {
  const last = matches.length - 1;
  for (let i = 1; i < last; i++) if (items[at + i] !== matches[i]!.equal) return false;
  const final = items[at + last]!;
  return final >= matches[last]!.from && final < matches[last]!.to;
}

/** How well a name matches a query, best first; a GP has the rank of its best name. */
const ranks = { equal: 0, begins: 1, startOfWord: 2, insideWord: 3, apart: 4 } as const;
type Rank = (typeof ranks)[keyof typeof ranks];
export const rankCount = 5;
