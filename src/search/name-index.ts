/** Indexes of GPs by the words of their folded names, and by their ids. */
import { type Lists, openLists, openNumbers, packLists } from "./lists.ts";
import {
  indexOfText,
  packTexts,
  sortByBytes,
  textCount,
  type PackedTexts,
} from "./packed-texts.ts";

/** Dictionary of the words in all names, with the GPs that use each word. */
export interface NameIndex {
  /** Distinct words in byte order. A word's number is its place here. */
  words: PackedTexts;
  /** Word → GPs with a name that is only that word, begins with it, or has it later; each list ascending. */
  gpsOfWord: Readonly<Record<"alone" | "first" | "later", Lists>>;
  /** Name → its words, in the order of the name. */
  wordsOfName: Lists;
  /** GP → first of its names, which have consecutive numbers. The last entry is the number of all names. */
  firstNameOfGp: Uint32Array;
  /** Runs of three bytes in the words, as ascending numbers. */
  trigrams: Uint32Array;
  /** Trigram, given as its place in `trigrams` → words that contain it, ascending. */
  wordsOfTrigram: Lists;
}

/** Indexes the names of GPs, or of other records, in display order. @param gpOfName position of each name's GP. */
export function indexNames(
  foldedNames: readonly string[],
  gpOfName: Uint32Array,
  gpCount: number,
): NameIndex {
  // Words are first numbered in the order in which they appear.
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
    firstNameOfGp: packLists(gpCount, gpOfName, gpOfName).starts,
    ...indexTrigrams(words),
  };
}

function indexWords(
  { starts, items }: Lists,
  gpOfName: Uint32Array,
  wordCount: number,
): NameIndex["gpsOfWord"] {
  // These lists skip repeats: a GP may have a word several times, in one name or in two.
  const [alone, first, later] = [openLists(), openLists(), openLists()];
  gpOfName.forEach((gp, name) => {
    const start = starts[name]!;
    const end = starts[name + 1]!;
    first.add(items[start]!, gp);
    if (end - start === 1) alone.add(items[start]!, gp);
    for (let at = start + 1; at < end; at++) later.add(items[at]!, gp);
  });
  return {
    alone: alone.take(wordCount),
    first: first.take(wordCount),
    later: later.take(wordCount),
  };
}

function indexTrigrams(words: PackedTexts): Pick<NameIndex, "trigrams" | "wordsOfTrigram"> {
  const wordsOf = new Map<number, number[]>();
  for (let word = 0; word < textCount(words); word++)
    for (let at = words.starts[word]!; at + 2 < words.starts[word + 1]!; at++) {
      const trigram = trigramAt(words.bytes, at);
      const known = wordsOf.get(trigram);
      if (known === undefined) wordsOf.set(trigram, [word]);
      else if (known.at(-1) !== word) known.push(word);
    }
  const inOrder = [...wordsOf].sort(([a], [b]) => a - b);
  const lists = inOrder.map(([, list]) => list);
  return {
    trigrams: Uint32Array.from(inOrder, ([trigram]) => trigram),
    wordsOfTrigram: packLists(
      lists.length,
      lists.flatMap((list, trigram) => list.map(() => trigram)),
      lists.flat(),
    ),
  };
}

export const trigramAt = (bytes: Uint8Array, at: number) =>
  (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;

/** Index of the current and former ids of GPs, and of the former ids of principals. */
export interface IdIndex {
  /** Ids in byte order. */
  ids: PackedTexts;
  /** Position of each id's GP or principal. */
  gpOfId: Uint32Array;
}

export function indexIds(entries: readonly { id: string; position: number }[]): IdIndex {
  // Ids are ASCII, so the order of their code units is the order of their bytes.
  const sorted = entries.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return {
    ids: packTexts(sorted.map(({ id }) => id)),
    gpOfId: Uint32Array.from(sorted, ({ position }) => position),
  };
}

const idShapes = { gp: /^gp_[0-9a-z]{16}$/, principal: /^pr_[0-9a-z]{16}$/ };

/**
 * Returns the position of the GP with a current or former id, or of the principal with a former one. Returns -1 if
 * there is none.
 */
export function positionOfId(
  index: IdIndex,
  id: string,
  kind: keyof typeof idShapes = "gp",
): number {
  if (!idShapes[kind].test(id)) return -1;
  const place = indexOfText(index.ids, Buffer.from(id));
  return place === -1 ? -1 : index.gpOfId[place]!;
}
