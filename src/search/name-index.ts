/** The index of folded GP names: a dictionary of their words, and who uses which. */
import { packLists, type Lists } from "./lists.ts";
import { packTexts, sortByBytes, textCount, type PackedTexts } from "./packed-texts.ts";

export interface NameIndex {
  /** Distinct words in byte order; a word's number is its place here. */
  words: PackedTexts;
  /** Word → names that hold it, ascending. */
  namesOfWord: Lists;
  /** Name → its words in their order. */
  wordsOfName: Lists;
  /** Name → position of its GP; ascending, since names are numbered GP by GP. */
  gpOfName: Uint32Array;
  /** Every run of three bytes in the words, as a number, ascending. */
  trigrams: Uint32Array;
  /** Trigram, by its place in `trigrams` → words that hold it, ascending. */
  wordsOfTrigram: Lists;
}

/**
 * @param foldedNames all names of all GPs, GP by GP in display order.
 * @param gpOfName position of the GP of each.
 */
export function indexNames(foldedNames: readonly string[], gpOfName: ArrayLike<number>): NameIndex {
  const wordsOfNames = foldedNames.map((name) => name.split(" "));
  const dictionary = sortByBytes(new Set(wordsOfNames.flat()));
  const numberOf = new Map(dictionary.map((word, number) => [word, number]));
  const owners: number[] = [];
  const used: number[] = [];
  wordsOfNames.forEach((words, name) => {
    for (const word of words) {
      owners.push(name);
      used.push(numberOf.get(word)!);
    }
  });
  const words = packTexts(dictionary);
  return {
    words,
    namesOfWord: withoutRepeats(packLists(dictionary.length, used, owners)),
    wordsOfName: packLists(foldedNames.length, owners, used),
    gpOfName: Uint32Array.from(gpOfName),
    ...indexTrigrams(words),
  };
}

/** A name that holds a word twice stands once in the word's list. */
function withoutRepeats({ starts, items }: Lists): Lists {
  const owners: number[] = [];
  const kept: number[] = [];
  for (let list = 0; list + 1 < starts.length; list++)
    for (let i = starts[list]!; i < starts[list + 1]!; i++)
      if (i === starts[list] || items[i] !== items[i - 1]) {
        owners.push(list);
        kept.push(items[i]!);
      }
  return packLists(starts.length - 1, owners, kept);
}

function indexTrigrams(words: PackedTexts): Pick<NameIndex, "trigrams" | "wordsOfTrigram"> {
  // A pair in one number sorts without a comparator: 24 bits of trigram, then the word.
  const pairs: number[] = [];
  const shift = 2 ** 28;
  for (let word = 0; word < textCount(words); word++)
    for (let at = words.starts[word]!; at + 2 < words.starts[word + 1]!; at++)
      pairs.push(trigramAt(words.bytes, at) * shift + word);
  const sorted = Float64Array.from(pairs).sort();
  const trigrams: number[] = [];
  const owners: number[] = [];
  const items: number[] = [];
  sorted.forEach((pair, i) => {
    if (pair === sorted[i - 1]) return;
    const trigram = Math.floor(pair / shift);
    if (trigrams.at(-1) !== trigram) trigrams.push(trigram);
    owners.push(trigrams.length - 1);
    items.push(pair % shift);
  });
  return {
    trigrams: Uint32Array.from(trigrams),
    wordsOfTrigram: packLists(trigrams.length, owners, items),
  };
}

export const trigramAt = (bytes: Uint8Array, at: number) =>
  (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
