/** Suggests spellings: finds the known texts that are most similar to a requested one, in an index of trigrams. */
import { firstFrom, invertLists, type Lists, openNumbers, packLists, placeOf } from "./lists.ts";
import { type PackedTexts, packTexts, textAt } from "./packed-texts.ts";

/** Index of texts by their trigrams. Texts are numbered from fewest to most trigrams, then in display order. */
export interface SuggestionIndex {
  /** Texts to show, by number. */
  shown: PackedTexts;
  /** Place of each text in display order. */
  places: Uint32Array;
  /** First text with at least i distinct trigrams, for each i up to 2 above the greatest number in any text. */
  firstOfCount: Uint32Array;
  /** Code points that occur, and the space, ascending. A trigram's three digits are places in this alphabet. */
  alphabet: Uint32Array;
  /** Trigrams as numbers, ascending. */
  trigrams: Float64Array;
  textsOfTrigram: Lists;
}

/** Indexes texts. @param texts distinct, in display order. */
export function indexSuggestions(
  texts: readonly { folded: string; shown: string }[],
): SuggestionIndex {
  const alphabet = alphabetOf(texts.map(({ folded }) => folded));
  const { trigrams, lists } = trigramsOfTexts(texts, alphabet);
  const counts = lists.starts.slice(1).map((end, text) => end - lists.starts[text]!);
  const inOrder = packLists(
    counts.reduce((a, b) => Math.max(a, b), 0) + 2,
    counts,
    texts.map((_, place) => place),
  );
  return {
    shown: packTexts(Array.from(inOrder.items, (place) => texts[place]!.shown)),
    places: inOrder.items,
    firstOfCount: inOrder.starts,
    alphabet,
    trigrams,
    textsOfTrigram: invertLists(lists, trigrams.length, inOrder.items),
  };
}

/** Returns all trigrams, and for each text the places of its trigrams among them, without repetition. */
function trigramsOfTexts(
  texts: readonly { folded: string }[],
  alphabet: Uint32Array,
): { trigrams: Float64Array; lists: Lists } {
  const digitOf = new Uint32Array(alphabet.at(-1)! + 1);
  alphabet.forEach((letter, digit) => (digitOf[letter] = digit));
  // Trigrams are first numbered as they appear, which is faster than sorting every occurrence.
  const numberOf = new Map<number, number>();
  const lastTextOf: number[] = [];
  const starts = new Uint32Array(texts.length + 1);
  const numbers = openNumbers();
  let count = 0;
  texts.forEach(({ folded }, text) => {
    for (const trigram of trigramsIn(folded, digitOf, alphabet.length)) {
      const number = numberOf.get(trigram) ?? numberOf.size;
      if (number === numberOf.size) numberOf.set(trigram, number);
      if (lastTextOf[number] === text) continue;
      lastTextOf[number] = text;
      numbers.add(number);
      count++;
    }
    starts[text + 1] = count;
  });
  const trigrams = Float64Array.from(numberOf.keys()).sort();
  const placeOfNumber = new Uint32Array(trigrams.length);
  trigrams.forEach((trigram, place) => (placeOfNumber[numberOf.get(trigram)!] = place));
  const items = numbers.take();
  items.forEach((number, i) => (items[i] = placeOfNumber[number]!));
  return { trigrams, lists: { starts, items } };
}

const space = 0x20;

/** Returns the code points that occur, and the space, ascending. */
function alphabetOf(texts: readonly string[]): Uint32Array {
  const letters = new Set(" ");
  for (const text of texts) for (const letter of text) letters.add(letter);
  return Uint32Array.from(letters, (letter) => letter.codePointAt(0)!).sort();
}

/**
 * Returns the trigrams of a text with a space added at each end, as numbers, in order and with repetitions.
 * @param digitOf digit of each code point of the text. @param base number of letters in the alphabet.
 */
function trigramsIn(folded: string, digitOf: Uint32Array, base: number): number[] {
  const ofSpace = digitOf[space]!;
  const trigrams: number[] = [];
  let [before, last] = [-1, ofSpace];
  for (let at = 0; at <= folded.length; at++) {
    const letter = folded.codePointAt(at) ?? space;
    if (letter > 0xffff) at++;
    const digit = digitOf[letter]!;
    if (before !== -1) trigrams.push((before * base + last) * base + digit);
    [before, last] = [last, digit];
  }
  return trigrams;
}

/**
 * Returns the distinct trigrams of a text with a space added at each end, as numbers. A trigram with a letter that
 * `alphabet` lacks is returned as text.
 */
function differentTrigrams(folded: string, alphabet: Uint32Array): Set<number | string> {
  const base = alphabet.length;
  const letters = [...` ${folded} `];
  const digits = letters.map((letter) => placeOf(alphabet, letter.codePointAt(0)!));
  const trigrams = new Set<number | string>();
  for (let i = 0; i + 2 < letters.length; i++) {
    const [a, b, c] = [digits[i]!, digits[i + 1]!, digits[i + 2]!];
    const isKnown = Math.min(a, b, c) >= 0;
    trigrams.add(isKnown ? (a * base + b) * base + c : letters.slice(i, i + 3).join(""));
  }
  return trigrams;
}

const suggestionsMax = 3;
const similarityMin = 0.4;

/**
 * Returns at most `max` known texts that are most similar to a folded one, best first. The trigrams of both have a Dice
 * coefficient of at least 0.4 (L. R. Dice, Ecology 26, 1945). Equally similar texts are in display order.
 */
export function suggest(index: SuggestionIndex, folded: string, max = suggestionsMax): string[] {
  const asked = differentTrigrams(folded, index.alphabet);
  const lists = [...asked]
    .map((trigram) => (typeof trigram === "number" ? placeOf(index.trigrams, trigram) : -1))
    .filter((list) => list !== -1);
  const best: { text: number; place: number; similarity: number }[] = [];
  for (const { count, sharedMax } of likeliestCounts(index, asked.size, lists.length)) {
    const similarityOf = (shared: number) => (2 * shared) / (asked.size + count);
    const worst = best.length < max ? similarityMin : best.at(-1)!.similarity;
    if (similarityOf(sharedMax) < worst) break;
    countShared(index, lists, count, (text, shared) => {
      const similarity = similarityOf(shared);
      if (similarity < worst) return;
      best.push({ text, place: index.places[text]!, similarity });
      best.sort((a, b) => b.similarity - a.similarity || a.place - b.place);
      best.length = Math.min(best.length, max);
    });
  }
  return best.map(({ text }) => textAt(index.shown, text));
}

/**
 * Yields each possible number of trigrams in a text, with the most that a text of this size can share with the query.
 * Numbers that allow a higher similarity come first. Of the query's `asked` trigrams, `known` occur in the index.
 */
function* likeliestCounts({ firstOfCount }: SuggestionIndex, asked: number, known: number) {
  const most = firstOfCount.length - 3;
  let fewer = Math.min(known, most);
  let more = fewer + 1;
  while (fewer > 0 || more <= most) {
    const isFewer = fewer > 0 && (more > most || fewer / (asked + fewer) >= known / (asked + more));
    const count = isFewer ? fewer-- : more++;
    yield { count, sharedMax: Math.min(count, known) };
  }
}

/** Counts of shared trigrams. All 0 between two calls of `countShared`. */
let shared = new Uint16Array(0);

/** Calls `visit` for each text that has `count` trigrams and shares at least one, with the number that it shares. */
function countShared(
  { firstOfCount, textsOfTrigram: { starts, items } }: SuggestionIndex,
  lists: readonly number[],
  count: number,
  visit: (text: number, shared: number) => void,
): void {
  const first = firstOfCount[count]!;
  const end = firstOfCount[count + 1]!;
  if (first === end) return;
  if (shared.length < end - first) shared = new Uint16Array(end - first);
  const touched: number[] = [];
  for (const list of lists)
    for (
      let i = firstFrom(items, first, starts[list]!, starts[list + 1]!);
      i < starts[list + 1]! && items[i]! < end;
      i++
    )
      if (shared[items[i]! - first]!++ === 0) touched.push(items[i]!);
  for (const text of touched) {
    visit(text, shared[text - first]!);
    shared[text - first] = 0;
  }
}
