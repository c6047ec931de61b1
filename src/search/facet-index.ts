/** Index of a facet: the GPs that carry each value, by every spelling a query may use. */
import { indexSuggestions, type SuggestionIndex } from "./index-suggestions.ts";
import { type Lists, openNumbers, packLists } from "./lists.ts";
import { indexOfText, type PackedTexts, packTexts, sortByBytes } from "./packed-texts.ts";

/** A way to ask for a value. */
interface ValueSpelling {
  value: string;
  folded: string;
  shown: string;
}

/** Values, and at the same place in `gps` a GP that carries each. */
interface Carriers {
  values: readonly string[];
  gps: readonly number[];
}

export interface FacetIndex {
  /** Folded spellings in byte order. */
  spellings: PackedTexts;
  /** Spelling → its values, which are numbered in no order. A city's name may be a spelling of several. */
  valuesOfSpelling: Lists;
  gpsOfValue: Lists;
  /** Spellings as shown, in the order of `spellings`. */
  suggestions: SuggestionIndex;
}

/** Indexes a facet. @param carriers never found if their value has no spelling. */
export function indexFacet(spellings: readonly ValueSpelling[], carriers: Carriers): FacetIndex {
  const shownOf = firstShown(spellings);
  const folded = sortByBytes(shownOf.keys());
  const spellingOf = numbersOf(folded);
  const valueOf = numbersOf(new Set(spellings.map(({ value }) => value)));
  const carried = openNumbers();
  const gps = openNumbers();
  carriers.values.forEach((value, i) => {
    const number = valueOf.get(value);
    if (number === undefined) return;
    carried.add(number);
    gps.add(carriers.gps[i]!);
  });
  return {
    spellings: packTexts(folded),
    valuesOfSpelling: packLists(
      folded.length,
      spellings.map((spelling) => spellingOf.get(spelling.folded)!),
      spellings.map(({ value }) => valueOf.get(value)!),
    ),
    gpsOfValue: packLists(valueOf.size, carried.take(), gps.take()),
    suggestions: indexSuggestions(
      folded.map((spelling) => ({ folded: spelling, shown: shownOf.get(spelling)! })),
    ),
  };
}

/** Returns the text to show for each spelling: the first in byte order among those that fold to it. */
function firstShown(spellings: readonly ValueSpelling[]): Map<string, string> {
  const shownOf = new Map<string, string>();
  for (const { folded, shown } of spellings) {
    const known = shownOf.get(folded);
    if (known === undefined || Buffer.compare(Buffer.from(shown), Buffer.from(known)) < 0)
      shownOf.set(folded, shown);
  }
  return shownOf;
}

const numbersOf = (texts: Iterable<string>) =>
  new Map(Array.from(texts, (text, number) => [text, number]));

/** Returns the numbers of the values that a spelling finds; none if no GP carries one. */
export function valuesOf({ spellings, valuesOfSpelling }: FacetIndex, folded: string): Uint32Array {
  const { starts, items } = valuesOfSpelling;
  const spelling = folded === "" ? -1 : indexOfText(spellings, Buffer.from(folded));
  return spelling === -1
    ? items.subarray(0, 0)
    : items.subarray(starts[spelling], starts[spelling + 1]);
}
