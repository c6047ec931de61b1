/** Index of values: the records that carry each value, by every spelling that a query may use. */
import { fold } from "#records/fold.ts";
import type { RecordKind } from "#records/kinds.ts";
import type { Bitset } from "./bitset.ts";
import { indexSuggestions, type SuggestionIndex } from "./suggestions.ts";
import { getOrCompute } from "./get-or-compute.ts";
import {
  emptyUnion,
  type Lists,
  makeUnion,
  openLists,
  openPositionLists,
  packLists,
} from "./lists.ts";
import { type Spelling, spellingsOfMarket } from "./market-spellings.ts";
import { indexOfText, type PackedTexts, packTexts, sortByBytes, textAt } from "./packed-texts.ts";

interface ValueSpelling extends Spelling {
  value: number;
}

export interface FacetIndex {
  /** Folded spellings in byte order. */
  spellings: PackedTexts;
  /** Spelling → numbers of its values. A city's name may be a spelling of several values. */
  valuesOfSpelling: Lists;
  /** Value → positions of the records that carry it, ascending. In a dataset's facets, the records are GPs. */
  gpsOfValue: Lists;
  /** Index for suggesting spellings, in the form to show. Its `places` are places in `spellings`. */
  suggestions: SuggestionIndex;
}

/**
 * Opens a builder of an index. Add records to it in ascending order of position. A value that folds to nothing has no
 * spelling and is never found. @param isMarket true if the values are market titles.
 */
export function openFacetIndexer(isMarket: boolean) {
  const spellings: ValueSpelling[] = [];
  const numberOf = new Map<string, number | undefined>();
  const carriers = openLists();
  let count = 0;
  const enter = (value: string) => {
    const own = isMarket ? spellingsOfMarket(value) : [{ folded: fold(value), shown: value }];
    const number = own.length === 0 ? undefined : count++;
    numberOf.set(value, number);
    for (const spelling of own) spellings.push({ value: number!, ...spelling });
    return number;
  };
  const index = (): FacetIndex => indexFacet(spellings, carriers.take(count));
  return {
    add(values: readonly string[], position: number): void {
      for (const value of values) {
        const number = numberOf.get(value) ?? (numberOf.has(value) ? undefined : enter(value));
        if (number !== undefined) carriers.add(number, position);
      }
    },
    index,
    open: (missed: Missed, recordCount: number) => openValueSets(index(), missed, recordCount),
  };
}

function indexFacet(spellings: readonly ValueSpelling[], gpsOfValue: Lists): FacetIndex {
  const shownOf = firstShown(spellings);
  const folded = sortByBytes(shownOf.keys());
  const spellingOf = new Map(folded.map((spelling, place) => [spelling, place]));
  return {
    spellings: packTexts(folded),
    valuesOfSpelling: packLists(
      folded.length,
      spellings.map((spelling) => spellingOf.get(spelling.folded)!),
      spellings.map(({ value }) => value),
    ),
    gpsOfValue,
    suggestions: indexSuggestions(
      folded.map((spelling) => ({ folded: spelling, shown: shownOf.get(spelling)! })),
    ),
  };
}

/** Returns the text to show for each spelling: the first in byte order among those that fold to it. */
function firstShown(spellings: readonly Spelling[]): Map<string, string> {
  const shownOf = new Map<string, string>();
  for (const { folded, shown } of spellings) {
    const known = shownOf.get(folded);
    if (known === undefined || Buffer.compare(Buffer.from(shown), Buffer.from(known)) < 0)
      shownOf.set(folded, shown);
  }
  return shownOf;
}

/** A name, value or id in a filter that matches nothing. */
export interface Miss {
  kind: RecordKind;
  parameter: string;
  value: string;
  /** Folded value, or a record's id as given; empty if the value has no letter or digit. */
  folded: string;
}

export type Missed = Pick<Miss, "kind" | "parameter">;

/** Returns the numbers of the requested values. Adds a miss for each value that no record carries. */
export function askedValues(
  { spellings, valuesOfSpelling: { starts, items } }: FacetIndex,
  missed: Missed,
  asked: readonly string[],
  misses: Miss[],
): number[] {
  return asked.flatMap((value) => {
    const folded = fold(value);
    const spelling = folded === "" ? -1 : indexOfText(spellings, Buffer.from(folded));
    if (spelling !== -1) return [...items.subarray(starts[spelling], starts[spelling + 1])];
    misses.push({ ...missed, value, folded });
    return [];
  });
}

/** Sets of records by the values that they carry. */
export interface ValueSets {
  /** Index of the values; null if they are ids or numbers, for which nothing similar is suggested. */
  index: FacetIndex | null;
  /** Returns sets that together hold all records with any of the values. They are valid until the next call. */
  find(asked: readonly string[], misses: Miss[]): readonly Bitset[];
}

/** Opens the sets of an index. @param count number of all records of the kind. */
export const openValueSets = (index: FacetIndex, missed: Missed, count: number): ValueSets => ({
  index,
  find: openFind(index.gpsOfValue, count, (asked, misses) =>
    askedValues(index, missed, asked, misses),
  ),
});

/** Makes a `find` function. @param carriers records of each value. @param numbersOf returns the values' numbers. */
function openFind(
  carriers: Lists,
  count: number,
  numbersOf: (asked: readonly string[], misses: Miss[]) => readonly number[],
): ValueSets["find"] {
  const recordsOfValue = openPositionLists(carriers, count);
  const found = makeUnion(count);
  return (asked, misses) => {
    emptyUnion(found);
    for (const value of numbersOf(asked, misses)) recordsOfValue.addTo(found, value);
    return found.sets;
  };
}

/**
 * Returns the longest spelling of each value, without repetition, in the byte order of the folded spellings. A market's
 * longest spelling is its title, because every other spelling leaves out words of it. Other values have one spelling.
 */
export function longestSpellings(index: FacetIndex): string[] {
  const { spellings, valuesOfSpelling, suggestions } = index;
  const longest = new Map<number, { spelling: number; length: number; shown: string }>();
  suggestions.places.forEach((spelling, text) => {
    const { length } = textAt(spellings, spelling);
    const { starts, items } = valuesOfSpelling;
    for (let at = starts[spelling]!; at < starts[spelling + 1]!; at++)
      if (length > (longest.get(items[at]!)?.length ?? 0))
        longest.set(items[at]!, { spelling, length, shown: textAt(suggestions.shown, text) });
  });
  const inOrder = [...longest.values()].sort((a, b) => a.spelling - b.spelling);
  return [...new Set(inOrder.map(({ shown }) => shown))];
}

/** Functions that normalize a text for comparison. */
const comparable: Readonly<Record<"digits" | "id", (text: string) => string>> = {
  digits: (text) => text.replaceAll(/[^0-9]/g, "").replace(/^0+/, ""),
  id: (text) => text,
};

/**
 * Opens a builder of sets by ids or numbers. Add records to it in ascending order of position. Unlike an index, it
 * sorts nothing, because most values belong to a single record.
 */
export function openExactSets(as: keyof typeof comparable) {
  const { [as]: textOf } = comparable;
  const numberOf = new Map<string, number>();
  const carriers = openLists();
  return {
    add(values: readonly string[], position: number): void {
      for (const value of values)
        carriers.add(
          getOrCompute(numberOf, textOf(value), () => numberOf.size),
          position,
        );
    },
    open: (missed: Missed, count: number): ValueSets => ({
      index: null,
      find: openFind(carriers.take(numberOf.size), count, (asked, misses) =>
        asked.flatMap((value) => {
          const folded = textOf(value);
          const number = folded === "" ? undefined : numberOf.get(folded);
          if (number === undefined) misses.push({ ...missed, value, folded: fold(value) });
          return number ?? [];
        }),
      ),
    }),
  };
}
