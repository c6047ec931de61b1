/** Which words of the dictionary match one word of a query. */
import type { Lists } from "./lists.ts";
import { trigramAt, type NameIndex } from "./name-index.ts";
import { endOfPrefix, holds, lowerBound } from "./packed-texts.ts";

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
export function answers(match: WordMatch, word: number): boolean {
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
