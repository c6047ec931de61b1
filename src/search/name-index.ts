/** Index of folded GP names: a dictionary of their words, with the GPs that use each. */
import { type Lists, openNumbers, packLists } from "./lists.ts";
import { packTexts, sortByBytes, textCount, type PackedTexts } from "./packed-texts.ts";

export interface NameIndex {
  /** Distinct words in byte order. The number of a word is its place here. */
  words: PackedTexts;
  /** Word → GPs with a name of only that word, with one that begins with it, and with one that has it later; each ascending. */
  gpsOfWord: Readonly<Record<"alone" | "first" | "later", Lists>>;
  /** Name → its words in their order. */
  wordsOfName: Lists;
  /** GP → its first name. The names of a GP have consecutive numbers. The last entry is one more than the last name. */
  firstNameOfGp: Uint32Array;
  /** Runs of three bytes in the words, as numbers, ascending. */
  trigrams: Uint32Array;
  /** Trigram, by its place in `trigrams` → words that contain it, ascending. */
  wordsOfTrigram: Lists;
}

/**
 * Indexes names.
 * @param foldedNames all names of all GPs, GP by GP in display order.
 * @param gpOfName position of each name's GP.
 */
export function indexNames(
  foldedNames: readonly string[],
  gpOfName: ArrayLike<number>,
  gpCount: number,
): NameIndex {
  // At first words are numbered as they appear.
  const numberOf = new Map<string, number>();
  const starts = new Uint32Array(foldedNames.length + 1);
  const used = openNumbers();
  let count = 0;
  foldedNames.forEach((name, i) => {
    for (const word of name.split(" ")) {
      let number = numberOf.get(word);
      if (number === undefined) numberOf.set(word, (number = numberOf.size));
      used.add(number);
      count++;
    }
    starts[i + 1] = count;
  });
  const dictionary = sortByBytes(numberOf.keys());
  const placeOfNumber = new Uint32Array(dictionary.length);
  dictionary.forEach((word, place) => (placeOfNumber[numberOf.get(word)!] = place));
  const words = packTexts(dictionary);
  const items = used.take();
  items.forEach((number, i) => (items[i] = placeOfNumber[number]!));
  const wordsOfName = { starts, items };
  return {
    words,
    gpsOfWord: indexWords(wordsOfName, gpOfName, dictionary.length),
    wordsOfName,
    firstNameOfGp: firstNames(gpOfName, gpCount),
    ...indexTrigrams(words),
  };
}

function indexWords(
  { starts, items }: Lists,
  gpOfName: ArrayLike<number>,
  wordCount: number,
): NameIndex["gpsOfWord"] {
  const alone = { words: [] as number[], gps: [] as number[] };
  const first = { words: [] as number[], gps: [] as number[] };
  const later = { words: [] as number[], gps: [] as number[] };
  for (let name = 0; name + 1 < starts.length; name++)
    for (let at = starts[name]!; at < starts[name + 1]!; at++) {
      const isFirst = at === starts[name];
      const places = isFirst ? (starts[name + 1]! - at === 1 ? [alone, first] : [first]) : [later];
      for (const { words, gps } of places) {
        words.push(items[at]!);
        gps.push(gpOfName[name]!);
      }
    }
  const listsOf = ({ words, gps }: typeof alone) =>
    withoutRepeats(packLists(wordCount, words, gps));
  return { alone: listsOf(alone), first: listsOf(first), later: listsOf(later) };
}

function firstNames(gpOfName: ArrayLike<number>, gpCount: number): Uint32Array {
  const first = new Uint32Array(gpCount + 1);
  for (let name = 0; name < gpOfName.length; name++) first[gpOfName[name]! + 1]!++;
  for (let gp = 0; gp < gpCount; gp++) first[gp + 1]! += first[gp]!;
  return first;
}

/** Returns the lists with each run of equal items once. A name or a GP may have a word twice. */
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
  // A pair in one number, 24 bits of trigram and then the word, sorts without a comparator.
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
