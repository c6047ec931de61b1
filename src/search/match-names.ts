/** Finds GPs or other records whose names match a folded query. Returns sets of records for each rank, best first. */
import {
  addBit,
  addBits,
  type Bitset,
  forEachBit,
  hasBit,
  makeBitset,
  only,
  storeBits,
} from "./bitset.ts";
import { getOrKeep } from "./get-or-compute.ts";
import {
  emptyUnion,
  isLong,
  type Lists,
  makeUnion,
  openPositionLists,
  placeOf,
  type Union,
} from "./lists.ts";
import { type NameIndex, trigramAt } from "./name-index.ts";
import { endsWith, holds, lowerBound } from "./packed-texts.ts";

type Names = ReturnType<typeof openNames>;

/** Returns a name index and the sets that a read model derives from it. */
const openNames = (index: NameIndex, gpCount: number) => ({
  index,
  gpCount,
  /** Word → GPs, as in `gpsOfWord`. */
  first: openPositionLists(index.gpsOfWord.first, gpCount),
  later: openPositionLists(index.gpsOfWord.later, gpCount),
  /** Scratch sets for intermediate results. */
  candidates: makeBitset(gpCount),
  others: makeUnion(gpCount),
  /** Query of several common words → the GPs of each rank. */
  ofCommonWords: new Map<string, readonly Bitset[]>(),
});

/**
 * Opens the search by name. The search returns the records that match a folded text, as sets by rank, best first. Ranks
 * without records are left out. A record is in its best rank, and perhaps also in worse ones.
 * @param index names of GPs, or of any other kind of record.
 */
export function openNameSearch(index: NameIndex, count: number) {
  const names = openNames(index, count);
  const unions = Object.values(ranks).map(() => makeUnion(count));
  /** Finds records. @param best position to return in the best rank; -1 for none. */
  return (folded: string, best = -1): readonly (readonly Bitset[])[] => {
    unions.forEach(emptyUnion);
    if (best !== -1) addBit(unions[ranks.equal]!.own, best);
    const words = folded === "" ? [] : folded.split(" ");
    const matches = words.map((word) => matchWord(index, word));
    if (matches.length === 1) matchOneWord(names, matches[0]!, unions);
    else if (matches.length > 1) matchSeveralWords(names, words, matches, unions);
    return unions
      .map(({ sets }) => sets.filter((set) => set.isTouched))
      .filter(({ length }) => length > 0);
  };
}

/** Matches a single word. The word's place in a name decides the rank, so no name is read. */
function matchOneWord(
  { index, first, later }: Names,
  match: WordMatch,
  unions: readonly Union[],
): void {
  const { starts, items } = index.gpsOfWord.alone;
  if (match.equal !== -1)
    addBits(unions[ranks.equal]!.own, items, starts[match.equal]!, starts[match.equal + 1]!);
  for (let word = match.from; word < match.to; word++) {
    first.addTo(unions[ranks.begins]!, word);
    later.addTo(unions[ranks.startOfWord]!, word);
  }
  for (const word of match.inside) {
    first.addTo(unions[ranks.insideWord]!, word);
    later.addTo(unions[ranks.insideWord]!, word);
  }
}

/** Maximum number of queries of common words for which the GPs are kept. Ranking the GPs of one takes 0.5 ms. */
const commonNamesKept = 32;

type Matches = readonly WordMatch[];

function matchSeveralWords(
  names: Names,
  words: readonly string[],
  matches: Matches,
  unions: readonly Union[],
): void {
  const { index, gpCount, ofCommonWords } = names;
  // A name that has a word once has it as often as it is asked.
  const different = matches.filter((_, i) => words.indexOf(words[i]!) === i);
  const byRarity = different.toSorted((a, b) => a.gpCount - b.gpCount);
  const rankInto = (sets: readonly Bitset[]) => (gp: number) => {
    const rank = bestRank(index, gp, matches, different);
    if (rank !== undefined) addBit(sets[rank]!, gp);
  };
  if (!isLong(byRarity[0]!.gpCount, gpCount))
    return fewCandidates(names, byRarity).forEach(rankInto(unions.map(({ own }) => own)));
  const known = getOrKeep(ofCommonWords, words.join(" "), commonNamesKept, () => {
    const made = unions.map(() => makeBitset(gpCount));
    forEachBit(only(manyCandidates(names, byRarity)), rankInto(made));
    return made;
  });
  unions.forEach(({ sets }, rank) => sets.push(known[rank]!));
}

/**
 * Returns the GPs that have every word, possibly in different names, and some of them twice. If few GPs have the first
 * word, looking for each in the sets of the others is faster than uniting and narrowing whole sets.
 */
function fewCandidates(names: Names, [rarest, ...more]: Matches): number[] {
  const { first, later } = names.index.gpsOfWord;
  let candidates: number[] = [];
  forEachWord(rarest!, (word) => {
    for (const { starts, items } of [first, later])
      for (let i = starts[word]!; i < starts[word + 1]!; i++) candidates.push(items[i]!);
  });
  for (const match of more) {
    if (candidates.length === 0) break;
    const { sets } = gpsOf(names, match);
    candidates = candidates.filter((gp) => sets.some((set) => hasBit(set, gp)));
  }
  return candidates;
}

/** Returns the GPs that have every word, possibly in different names. The set is valid until the next call. */
function manyCandidates(names: Names, [rarest, ...more]: Matches): Bitset {
  const { candidates } = names;
  let count = storeBits(candidates, { some: gpsOf(names, rarest!).sets, each: [], but: [] });
  for (const match of more) {
    if (count === 0) break;
    const each = [gpsOf(names, match).sets];
    count = storeBits(candidates, { some: [candidates], each, but: [] });
  }
  return candidates;
}

/** Returns all GPs with a word that matches. The result is valid until the next call. */
function gpsOf({ first, later, others }: Names, match: WordMatch): Union {
  emptyUnion(others);
  forEachWord(match, (word) => {
    first.addTo(others, word);
    later.addTo(others, word);
  });
  return others;
}

export function forEachWord({ from, to, inside }: WordMatch, visit: (word: number) => void): void {
  for (let word = from; word < to; word++) visit(word);
  for (const word of inside) visit(word);
}

/** Returns the best rank of a GP's names, or undefined if no name has all words. @param each the different words. */
function bestRank(index: NameIndex, gp: number, matches: Matches, each: Matches): Rank | undefined {
  let best: Rank | undefined;
  for (let name = index.firstNameOfGp[gp]!; name < index.firstNameOfGp[gp + 1]!; name++) {
    if (!holdsAll(index, name, each)) continue;
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

/** Returns the rank of a name that has all words: that of the best place where they follow one another, or `apart`. */
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

/** Reports whether the other sought words follow the word at `at`. The last may be only the start of a word. */
function followsFrom(items: Uint32Array, at: number, matches: readonly WordMatch[]): boolean {
  const last = matches.length - 1;
  for (let i = 1; i < last; i++) if (items[at + i] !== matches[i]!.equal) return false;
  const final = items[at + last]!;
  return final >= matches[last]!.from && final < matches[last]!.to;
}

/** Ranks of a match with a name, best first. A GP has the rank of its best name. */
const ranks = { equal: 0, begins: 1, startOfWord: 2, insideWord: 3, apart: 4 } as const;
type Rank = (typeof ranks)[keyof typeof ranks];

/** Words that match a sought word. Those that begin with it are adjacent in the dictionary; others may contain it. */
interface WordMatch {
  sought: Uint8Array;
  /** First word that begins with the sought one; `to` is the first word after those. */
  from: number;
  to: number;
  /** Words that contain the sought one but do not begin with it, ascending; empty unless `mayStandAnywhere`. */
  inside: readonly number[];
  /** Number of the word that equals the sought one, or -1 if there is none. */
  equal: number;
  /** Upper bound for the number of matching GPs: the sum over all matching words. */
  gpCount: number;
}

/** Matches words to look for inside others: those of four code points or more, and those in scripts without spaces. */
const mayStandAnywhere =
  /^.{4}|[[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}]&&\p{L}]/sv;

export function matchWord(index: NameIndex, word: string): WordMatch {
  const sought = Buffer.from(word);
  const from = lowerBound(index.words, sought);
  // No byte of UTF-8 is 255, so this sorts after every word that begins with the sought one.
  const to = lowerBound(index.words, Buffer.concat([sought, Uint8Array.of(255)]));
  const equal = from < to && lengthOf(index, from) === sought.length ? from : -1;
  const inside = mayStandAnywhere.test(word) ? wordsHolding(index, sought, from, to) : [];
  const countOf = ({ starts }: Lists, first: number, end: number) => starts[end]! - starts[first]!;
  const countBetween = (first: number, end: number) =>
    countOf(index.gpsOfWord.first, first, end) + countOf(index.gpsOfWord.later, first, end);
  const gpCount = inside.reduce(
    (sum, one) => sum + countBetween(one, one + 1),
    countBetween(from, to),
  );
  return { sought, from, to, inside, equal, gpCount };
}

/** Reports whether a word matches. @param word number of the word. */
const answers = ({ from, to, inside }: WordMatch, word: number): boolean =>
  (word >= from && word < to) || placeOf(inside, word) !== -1;

const lengthOf = ({ words }: NameIndex, word: number) =>
  words.starts[word + 1]! - words.starts[word]!;

/**
 * Returns the words that contain a sought word but do not begin with it. Reads only words with its rarest trigram.
 * @param sought at least three bytes.
 */
function wordsHolding(index: NameIndex, sought: Uint8Array, from: number, to: number): number[] {
  const { starts, items } = index.wordsOfTrigram;
  const countAt = (place: number) => starts[place + 1]! - starts[place]!;
  let rarest = -1;
  for (let at = 0; at + 2 < sought.length; at++) {
    const place = placeOf(index.trigrams, trigramAt(sought, at));
    if (place === -1) return [];
    if (rarest === -1 || countAt(place) < countAt(rarest)) rarest = place;
  }
  const holding: number[] = [];
  for (let i = starts[rarest]!; i < starts[rarest + 1]!; i++) {
    const word = items[i]!;
    if ((word < from || word >= to) && holds(index.words, word, sought)) holding.push(word);
  }
  return holding;
}
