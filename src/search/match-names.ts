/** Which GPs answer to a folded name, and how well: one set of GPs for each rank. */
import { addBit, hasBit, type Bitset } from "./bitset.ts";
import { answers, matchWord, type WordMatch } from "./match-words.ts";
import type { NameIndex } from "./name-index.ts";
import { endsWith } from "./packed-texts.ts";

/** Best first; a GP stands in the set of the best of its names. */
export const ranks = { equal: 0, begins: 1, startOfWord: 2, insideWord: 3, apart: 4 } as const;
export const rankCount = 5;

/**
 * Adds every GP that answers to the set of each rank one of its names has.
 * @param query folded, not empty.
 * @param sets `rankCount` empty sets; a GP may end up in several, the best counts.
 */
export function matchNames(index: NameIndex, query: string, sets: readonly Bitset[]): void {
  const words = query.split(" ").map((word) => matchWord(index, word));
  if (words.length === 1) matchOneWord(index, words[0]!, sets);
  else matchSeveralWords(index, words, sets);
}

function matchOneWord(index: NameIndex, match: WordMatch, sets: readonly Bitset[]): void {
  const { starts: firstWords, items: words } = index.wordsOfName;
  const { starts, items: names } = index.namesOfWord;
  for (let word = match.from; word < match.to; word++)
    for (let i = starts[word]!; i < starts[word + 1]!; i++) {
      const name = names[i]!;
      const first = firstWords[name]!;
      const isFirst = words[first] === word;
      const isWhole = isFirst && word === match.equal && firstWords[name + 1]! - first === 1;
      const rank = isWhole ? ranks.equal : isFirst ? ranks.begins : ranks.startOfWord;
      addBit(sets[rank]!, index.gpOfName[name]!);
    }
  for (const word of match.inside)
    for (let i = starts[word]!; i < starts[word + 1]!; i++)
      addBit(sets[ranks.insideWord]!, index.gpOfName[names[i]!]!);
}

function matchSeveralWords(index: NameIndex, matches: WordMatch[], sets: readonly Bitset[]): void {
  const rarest = matches.reduce((a, b) => (b.nameCount < a.nameCount ? b : a));
  const others = matches.filter((match) => match !== rarest);
  const { starts, items: names } = index.namesOfWord;
  const lookAt = (word: number) => {
    for (let i = starts[word]!; i < starts[word + 1]!; i++) {
      const name = names[i]!;
      const gp = index.gpOfName[name]!;
      if (
        hasBit(sets[ranks.equal]!, gp) ||
        !others.every((match) => holdsAnswer(index, name, match))
      )
        continue;
      addBit(sets[rankOf(index, name, matches)]!, gp);
    }
  };
  for (let word = rarest.from; word < rarest.to; word++) lookAt(word);
  rarest.inside.forEach(lookAt);
}

function holdsAnswer({ wordsOfName }: NameIndex, name: number, match: WordMatch): boolean {
  for (let i = wordsOfName.starts[name]!; i < wordsOfName.starts[name + 1]!; i++)
    if (answers(match, wordsOfName.items[i]!)) return true;
  return false;
}

/** Rank of a name that holds all words: the best place at which they stand as one. */
function rankOf(index: NameIndex, name: number, matches: readonly WordMatch[]): number {
  const { starts, items } = index.wordsOfName;
  const start = starts[name]!;
  const end = starts[name + 1]!;
  let best: number = ranks.apart;
  for (let at = start; at + matches.length <= end; at++) {
    if (!followsFrom(items, at, matches)) continue;
    const word = items[at]!;
    if (word === matches[0]!.equal) {
      if (at > start) return Math.min(best, ranks.startOfWord);
      const isWhole = matches.length === end - start && items[end - 1] === matches.at(-1)!.equal;
      return isWhole ? ranks.equal : ranks.begins;
    }
    if (endsWith(index.words, word, matches[0]!.sought)) best = ranks.insideWord;
  }
  return best;
}

/** Do the words after the first stand at `at + 1` on: whole, and the last at least begun? */
function followsFrom(items: Uint32Array, at: number, matches: readonly WordMatch[]): boolean {
  const last = matches.length - 1;
  for (let i = 1; i < last; i++) if (items[at + i] !== matches[i]!.equal) return false;
  const final = items[at + last]!;
  return final >= matches[last]!.from && final < matches[last]!.to;
}
