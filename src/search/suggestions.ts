/** Suggests spellings: the known texts most similar to the requested one. */
import { differentTrigrams, digitsOf, type SuggestionIndex } from "./index-suggestions.ts";
import { textAt } from "./packed-texts.ts";

const suggestionsMax = 3;
const similarityMin = 0.4;

interface Likeness {
  text: number;
  similarity: number;
}

/**
 * Returns at most three texts, best first. Their trigram sets have a Dice coefficient of at least 0.4 (L. R. Dice,
 * Ecology 26, 1945). Equally good texts come in display order.
 * @param folded the requested text, not empty.
 */
export function suggest(index: SuggestionIndex, folded: string): string[] {
  const asked = differentTrigrams(folded, digitsOf(index.alphabet));
  const lists = listsOf(index, asked);
  const best: Likeness[] = [];
  for (const { count, sharedMax } of likeliestCounts(index, asked.size, lists.length)) {
    const similarityOf = (shared: number) => (2 * shared) / (asked.size + count);
    const worst = best.length < suggestionsMax ? similarityMin : best.at(-1)!.similarity;
    if (similarityOf(sharedMax) < worst) break;
    countShared(index, lists, count, (text, shared) => {
      const similarity = similarityOf(shared);
      if (similarity >= worst) insert(best, { text, similarity }, index.places);
    });
  }
  return best.map(({ text }) => textAt(index.shown, text));
}

/** Returns the numbers of the requested trigrams that any text has. */
function listsOf({ trigrams }: SuggestionIndex, asked: ReadonlySet<number | string>): number[] {
  return [...asked]
    .map((trigram) => (typeof trigram === "number" ? placeOf(trigrams, trigram) : -1))
    .filter((list) => list !== -1);
}

/**
 * Yields counts of trigrams that a text may have. Counts whose texts may be the most similar come first.
 * @param known number of requested trigrams that any text has. A text shares no more than these, nor than its own.
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

/** Calls `visit` for each text with `count` trigrams that shares any, with the number that it shares. */
function countShared(
  { firstOfCount, textsOfTrigram: { starts, items } }: SuggestionIndex,
  lists: readonly number[],
  count: number,
  visit: (text: number, shared: number) => void,
): void {
  const first = firstOfCount[count]!;
  const end = firstOfCount[count + 1]!;
  if (first === end) return;
  const shared = new Uint16Array(end - first);
  const touched: number[] = [];
  for (const list of lists)
    for (
      let i = firstFrom(items, starts[list]!, starts[list + 1]!, first);
      i < starts[list + 1]! && items[i]! < end;
      i++
    )
      if (shared[items[i]! - first]!++ === 0) touched.push(items[i]!);
  for (const text of touched) visit(text, shared[text - first]!);
}

/** Inserts a text into the best ones, in their order. */
function insert(best: Likeness[], one: Likeness, places: Uint32Array): void {
  const place = best.findIndex(
    (other) =>
      other.similarity < one.similarity ||
      (other.similarity === one.similarity && places[other.text]! > places[one.text]!),
  );
  best.splice(place === -1 ? best.length : place, 0, one);
  best.length = Math.min(best.length, suggestionsMax);
}

function placeOf(sorted: Float64Array, sought: number): number {
  const place = firstFrom(sorted, 0, sorted.length, sought);
  return sorted[place] === sought ? place : -1;
}

/** Returns the first place from `low` on, before `high`, with `sought` or more. Returns `high` if there is none. */
function firstFrom(
  sorted: Float64Array | Uint32Array,
  low: number,
  high: number,
  sought: number,
): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < sought) low = middle + 1;
    else high = middle;
  }
  return low;
}
