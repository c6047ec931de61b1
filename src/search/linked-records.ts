/** From GPs, or from words of their names, to their records of one kind. */
import { addBits, addSet, forEachBit, makeBitset, type Bitset } from "./bitset.ts";
import type { Lists } from "./lists.ts";
import type { WordMatch } from "./match-words.ts";
import type { NameIndex } from "./name-index.ts";

interface LinkedRecords {
  /** Adds the records of the GPs. */
  addOfGps(records: Bitset, gps: Bitset): void;
  /** Adds the records of all GPs that have one of the words in a name. */
  addOfWords(records: Bitset, words: Pick<WordMatch, "from" | "to" | "inside">): void;
}

/** If one GP of so many has a word, it takes longer to follow each to its records than to add a set of all of them. */
const gpsOfCommonWord = 128;

/** @param recordCount how many records of the kind there are. */
export function openLinkedRecords(
  recordsOfGp: Lists,
  { first, later }: NameIndex["gpsOfWord"],
  recordCount: number,
): LinkedRecords {
  const { starts, items } = recordsOfGp;
  const gpCount = starts.length - 1;
  // Made when they are first asked for. A GP has some eight words, so that there are at most a thousand common ones.
  const ofCommonWord = new Map<number, Bitset>();

  function follow(records: Bitset, word: number): void {
    for (const { starts: from, items: gps } of [first, later])
      for (let i = from[word]!; i < from[word + 1]!; i++)
        addBits(records, items, starts[gps[i]!]!, starts[gps[i]! + 1]!);
  }

  function addOfWord(records: Bitset, word: number): void {
    const gps = lengthOf(first, word) + lengthOf(later, word);
    if (gps * gpsOfCommonWord <= gpCount) return follow(records, word);
    let known = ofCommonWord.get(word);
    if (known === undefined) {
      known = makeBitset(recordCount);
      follow(known, word);
      ofCommonWord.set(word, known);
    }
    addSet(records, known);
  }

  return {
    addOfGps(records, gps) {
      forEachBit(gps, (gp) => addBits(records, items, starts[gp]!, starts[gp + 1]!));
    },
    addOfWords(records, { from, to, inside }) {
      for (let word = from; word < to; word++) addOfWord(records, word);
      for (const word of inside) addOfWord(records, word);
    },
  };
}

const lengthOf = ({ starts }: Lists, list: number) => starts[list + 1]! - starts[list]!;
