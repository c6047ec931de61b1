/** Spelling help: the known texts most like one that was asked for. */
import { packLists, type Lists } from "./lists.ts";
import { packTexts, textAt, type PackedTexts } from "./packed-texts.ts";

export interface SuggestionIndex {
  /** What is shown, in display order. */
  shown: PackedTexts;
  /** How many different trigrams each text has. */
  trigramCounts: Uint32Array;
  /** Code points that occur, ascending; a trigram is a number of three such digits. */
  alphabet: Uint32Array;
  /** Trigrams as numbers, ascending. */
  trigrams: Float64Array;
  textsOfTrigram: Lists;
}

const suggestionsMax = 3;
const similarityMin = 0.4;

/** @param texts distinct, in display order. */
export function indexSuggestions(
  texts: readonly { folded: string; shown: string }[],
): SuggestionIndex {
  const alphabet = alphabetOf(texts.map(({ folded }) => folded));
  const digitOf = digitsOf(alphabet);
  const trigramCounts = new Uint32Array(texts.length);
  // Numbered as they are met, which is faster than to sort all that were met.
  const numberOf = new Map<number, number>();
  const lastTextOf: number[] = [];
  const owners: number[] = [];
  const items: number[] = [];
  texts.forEach(({ folded }, text) => {
    for (const trigram of knownTrigrams(folded, digitOf)) {
      const number = numberOf.get(trigram) ?? numberOf.size;
      if (number === numberOf.size) numberOf.set(trigram, number);
      if (lastTextOf[number] === text) continue;
      lastTextOf[number] = text;
      trigramCounts[text]!++;
      owners.push(number);
      items.push(text);
    }
  });
  const trigrams = Float64Array.from(numberOf.keys()).sort();
  const placeOfNumber = new Uint32Array(trigrams.length);
  trigrams.forEach((trigram, place) => (placeOfNumber[numberOf.get(trigram)!] = place));
  return {
    shown: packTexts(texts.map(({ shown }) => shown)),
    trigramCounts,
    alphabet,
    trigrams,
    textsOfTrigram: packLists(
      trigrams.length,
      owners.map((number) => placeOfNumber[number]!),
      items,
    ),
  };
}

/**
 * At most three texts, best first: Dice coefficient of the trigram sets (L. R. Dice, Ecology 26, 1945) of at
 * least 0.4; equals in display order.
 * @param folded what was asked for, not empty.
 */
export function suggest(index: SuggestionIndex, folded: string): string[] {
  const asked = trigramsOf(folded, digitsOf(index.alphabet));
  const best: { text: number; similarity: number }[] = [];
  for (const [text, count] of countShared(index, asked)) {
    const similarity = (2 * count) / (asked.size + index.trigramCounts[text]!);
    if (similarity < similarityMin) continue;
    const isBefore = (one: { text: number; similarity: number }) =>
      one.similarity < similarity || (one.similarity === similarity && one.text > text);
    const place = best.findIndex(isBefore);
    best.splice(place === -1 ? best.length : place, 0, { text, similarity });
    best.length = Math.min(best.length, suggestionsMax);
  }
  return best.map(({ text }) => textAt(index.shown, text));
}

/** Texts that have any of the asked trigrams, in no order, each with how many. */
function countShared(
  index: SuggestionIndex,
  asked: ReadonlySet<number | string>,
): [text: number, count: number][] {
  const counts = new Uint16Array(index.trigramCounts.length);
  const touched: number[] = [];
  const { starts, items } = index.textsOfTrigram;
  for (const trigram of asked) {
    const list = typeof trigram === "number" ? placeOf(index.trigrams, trigram) : -1;
    if (list === -1) continue;
    for (let i = starts[list]!; i < starts[list + 1]!; i++) {
      const text = items[i]!;
      if (counts[text]!++ === 0) touched.push(text);
    }
  }
  return touched.map((text) => [text, counts[text]!]);
}

function placeOf(sorted: Float64Array, sought: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < sought) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === sought ? low : -1;
}

const space = 0x20;

function alphabetOf(texts: readonly string[]): Uint32Array {
  const letters = new Set<number>([space]);
  for (const text of texts)
    for (let at = 0; at < text.length; at++) {
      const letter = text.codePointAt(at)!;
      if (letter > 0xffff) at++;
      letters.add(letter);
    }
  return Uint32Array.from(letters).sort();
}

const digitsOf = (alphabet: ArrayLike<number>) =>
  new Map(Array.from(alphabet, (codePoint, digit) => [codePoint, digit]));

/** The trigrams of a text, also more than once, all of whose letters are in the alphabet. */
function knownTrigrams(folded: string, digitOf: ReadonlyMap<number, number>): number[] {
  const base = digitOf.size;
  const ofSpace = digitOf.get(space)!;
  const trigrams: number[] = [];
  let [before, last] = [-1, ofSpace];
  for (let at = 0; at <= folded.length; at++) {
    const letter = folded.codePointAt(at) ?? space;
    if (letter > 0xffff) at++;
    const digit = digitOf.get(letter)!;
    if (before !== -1) trigrams.push((before * base + last) * base + digit);
    [before, last] = [last, digit];
  }
  return trigrams;
}

/** The different trigrams of a text: as numbers, or as they are where a letter is outside the alphabet. */
function trigramsOf(folded: string, digitOf: ReadonlyMap<number, number>): Set<number | string> {
  const base = digitOf.size;
  const letters = [...` ${folded} `];
  const trigrams = new Set<number | string>();
  for (let i = 0; i + 2 < letters.length; i++) {
    const [a, b, c] = [0, 1, 2].map((next) => digitOf.get(letters[i + next]!.codePointAt(0)!));
    const isKnown = a !== undefined && b !== undefined && c !== undefined;
    trigrams.add(isKnown ? (a * base + b) * base + c : letters.slice(i, i + 3).join(""));
  }
  return trigrams;
}
