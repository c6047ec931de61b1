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
import { type Lists, openPositionLists, type PositionLists } from "./lists.ts";
import { type NameIndex, trigramAt } from "./name-index.ts";
import { endOfPrefix, endsWith, holds, lowerBound } from "./packed-texts.ts";

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

/** Words that begin with the sought one are adjacent in the dictionary; others may contain it. */
export interface WordMatch {
  sought: Uint8Array;
  /** First word that begins with the sought one, and the first after those. */
  from: number;
  to: number;
  /** Words that contain it further on, ascending. */
  inside: readonly number[];
  /** Number of the word equal to the sought one, or -1. */
  equal: number;
  /** Upper bound of the number of matching GPs: the sum over the words. */
  gpCount: number;
}

const lettersWithoutSpaces =
  /[[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}]&&\p{L}]/v;

/** A word this long, or of a script that is written without spaces, may stand anywhere in a name. */
const anywhereFromCodePoints = 4;

export function matchWord(index: NameIndex, word: string): WordMatch {
  const sought = Buffer.from(word);
  const from = lowerBound(index.words, sought);
  const to = endOfPrefix(index.words, sought, from);
  const equal = from < to && lengthOf(index, from) === sought.length ? from : -1;
  const inside = mayStandAnywhere(word) ? wordsHolding(index, sought, from, to) : [];
  const countOf = ({ starts }: Lists, first: number, end: number) => starts[end]! - starts[first]!;
  const countBetween = (first: number, end: number) =>
    countOf(index.gpsOfWord.first, first, end) + countOf(index.gpsOfWord.later, first, end);
  const gpCount = inside.reduce(
    (sum, one) => sum + countBetween(one, one + 1),
    countBetween(from, to),
  );
  return { sought, from, to, inside, equal, gpCount };
}

/** Does word number `word` match? */
function answers(match: WordMatch, word: number): boolean {
  if (word >= match.from && word < match.to) return true;
  let low = 0;
  let high = match.inside.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (match.inside[middle]! < word) low = middle + 1;
    else high = middle;
  }
  return match.inside[low] === word;
}

const lengthOf = ({ words }: NameIndex, word: number) =>
  words.starts[word + 1]! - words.starts[word]!;

function mayStandAnywhere(word: string): boolean {
  return [...word].length >= anywhereFromCodePoints || lettersWithoutSpaces.test(word);
}

/** Every word that may stand anywhere has three bytes, so its rarest trigram leaves few to look at. */
function wordsHolding(index: NameIndex, sought: Uint8Array, from: number, to: number): number[] {
  let rarest: { start: number; end: number } | undefined;
  for (let at = 0; at + 2 < sought.length; at++) {
    const found = listOfTrigram(index, trigramAt(sought, at));
    if (found === undefined) return [];
    if (rarest === undefined || found.end - found.start < rarest.end - rarest.start) rarest = found;
  }
  const holding: number[] = [];
  for (let i = rarest!.start; i < rarest!.end; i++) {
    const word = index.wordsOfTrigram.items[i]!;
    if ((word < from || word >= to) && holds(index.words, word, sought)) holding.push(word);
  }
  return holding;
}

function listOfTrigram({ trigrams, wordsOfTrigram }: NameIndex, trigram: number) {
  let low = 0;
  let high = trigrams.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (trigrams[middle]! < trigram) low = middle + 1;
    else high = middle;
  }
  if (trigrams[low] !== trigram) return undefined;
  return { start: wordsOfTrigram.starts[low]!, end: wordsOfTrigram.starts[low + 1]! };
}
