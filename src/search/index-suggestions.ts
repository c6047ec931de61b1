/** Makes the index of spelling help. */
import { packLists, type Lists } from "./lists.ts";
import { packTexts, type PackedTexts } from "./packed-texts.ts";
import { alphabetOf, digitsOf, trigramsIn } from "./text-trigrams.ts";

/** Texts are numbered by how many trigrams they have, equals in display order: the likest are found first. */
export interface SuggestionIndex {
  /** What is shown. */
  shown: PackedTexts;
  /** Place of each text in display order. */
  places: Uint32Array;
  /** Number of different trigrams → first text that has so many or more; one more than the greatest number at the end. */
  firstOfCount: Uint32Array;
  /** Code points that occur, ascending; a trigram is a number of three such digits. */
  alphabet: Uint32Array;
  /** Trigrams as numbers, ascending. */
  trigrams: Float64Array;
  textsOfTrigram: Lists;
}

/** @param texts distinct, in display order. */
export function indexSuggestions(
  texts: readonly { folded: string; shown: string }[],
): SuggestionIndex {
  const alphabet = alphabetOf(texts.map(({ folded }) => folded));
  const { trigrams, lists } = trigramsOfTexts(texts, digitsOf(alphabet));
  const counts = lists.starts.slice(1).map((end, text) => end - lists.starts[text]!);
  const inOrder = packLists(
    counts.reduce((a, b) => Math.max(a, b), 0) + 2,
    counts,
    texts.map((_, place) => place),
  );
  const owners: number[] = [];
  const items: number[] = [];
  inOrder.items.forEach((place, text) => {
    for (let i = lists.starts[place]!; i < lists.starts[place + 1]!; i++) {
      owners.push(lists.items[i]!);
      items.push(text);
    }
  });
  return {
    shown: packTexts(Array.from(inOrder.items, (place) => texts[place]!.shown)),
    places: inOrder.items,
    firstOfCount: inOrder.starts,
    alphabet,
    trigrams,
    textsOfTrigram: packLists(trigrams.length, owners, items),
  };
}

/** All trigrams, and for each text the places of its own among them, each once. */
function trigramsOfTexts(
  texts: readonly { folded: string }[],
  digitOf: ReadonlyMap<number, number>,
): { trigrams: Float64Array; lists: Lists } {
  // Numbered as they are met, which is faster than to sort all that were met.
  const numberOf = new Map<number, number>();
  const lastTextOf: number[] = [];
  const owners: number[] = [];
  const numbers: number[] = [];
  texts.forEach(({ folded }, text) => {
    for (const trigram of trigramsIn(folded, digitOf)) {
      const number = numberOf.get(trigram) ?? numberOf.size;
      if (number === numberOf.size) numberOf.set(trigram, number);
      if (lastTextOf[number] === text) continue;
      lastTextOf[number] = text;
      owners.push(text);
      numbers.push(number);
    }
  });
  const trigrams = Float64Array.from(numberOf.keys()).sort();
  const placeOfNumber = new Uint32Array(trigrams.length);
  trigrams.forEach((trigram, place) => (placeOfNumber[numberOf.get(trigram)!] = place));
  const places = numbers.map((number) => placeOfNumber[number]!);
  return { trigrams, lists: packLists(texts.length, owners, places) };
}
