/** Spelling help: the known texts most like one that was asked for. */
import { packTexts, textAt, type PackedTexts } from "./packed-texts.ts";
import { packLists, shareNumbers, type Lists } from "./shared-arrays.ts";

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
  const alphabet = alphabetOf(texts);
  const digitOf = digitsOf(alphabet);
  const textsOf = new Map<number, number[]>();
  const trigramCounts = texts.map(({ folded }, text) => {
    const own = trigramsOf(folded, digitOf);
    for (const trigram of own as Set<number>) {
      const known = textsOf.get(trigram);
      if (known === undefined) textsOf.set(trigram, [text]);
      else known.push(text);
    }
    return own.size;
  });
  const trigrams = new Float64Array(new SharedArrayBuffer(textsOf.size * 8));
  trigrams.set([...textsOf.keys()]);
  trigrams.sort();
  const owners: number[] = [];
  const items: number[] = [];
  trigrams.forEach((trigram, number) => {
    for (const text of textsOf.get(trigram)!) {
      owners.push(number);
      items.push(text);
    }
  });
  return {
    shown: packTexts(texts.map(({ shown }) => shown)),
    trigramCounts: shareNumbers(trigramCounts),
    alphabet: shareNumbers(alphabet),
    trigrams,
    textsOfTrigram: packLists(trigrams.length, owners, items),
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

const padded = (folded: string) => ` ${folded} `;

function alphabetOf(texts: readonly { folded: string }[]): number[] {
  const letters = new Set<string>([" "]);
  for (const { folded } of texts) for (const letter of folded) letters.add(letter);
  return [...letters].map((letter) => letter.codePointAt(0)!).sort((a, b) => a - b);
}

const digitsOf = (alphabet: ArrayLike<number>) =>
  new Map(Array.from(alphabet, (codePoint, digit) => [codePoint, digit]));

/** The different trigrams of a text: as numbers, or as they are where a letter is outside the alphabet. */
function trigramsOf(folded: string, digitOf: ReadonlyMap<number, number>): Set<number | string> {
  const base = digitOf.size;
  const letters = [...padded(folded)];
  const trigrams = new Set<number | string>();
  for (let i = 0; i + 2 < letters.length; i++) {
    const [a, b, c] = [0, 1, 2].map((next) => digitOf.get(letters[i + next]!.codePointAt(0)!));
    const isKnown = a !== undefined && b !== undefined && c !== undefined;
    trigrams.add(isKnown ? (a * base + b) * base + c : letters.slice(i, i + 3).join(""));
  }
  return trigrams;
}
