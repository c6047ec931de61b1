/** Which GPs carry a tag, a theme or a market, by every spelling a query may use. */
import { addBit, type Bitset } from "./bitset.ts";
import { indexOfText, packTexts, sortByBytes, type PackedTexts } from "./packed-texts.ts";
import { packLists, type Lists } from "./shared-arrays.ts";
import { indexSuggestions, type SuggestionIndex } from "./suggestions.ts";

/** One folded spelling of a value, as it is shown, and one GP that carries the value. */
export interface FacetEntry {
  folded: string;
  shown: string;
  gp: number;
}

export interface FacetIndex {
  /** Folded spellings in byte order. */
  spellings: PackedTexts;
  gpsOfSpelling: Lists;
  /** Spellings as shown, in the same order. */
  suggestions: SuggestionIndex;
}

export function indexFacet(entries: readonly FacetEntry[]): FacetIndex {
  const shownOf = new Map<string, string>();
  for (const { folded, shown } of entries) {
    const known = shownOf.get(folded);
    if (known === undefined || Buffer.compare(Buffer.from(shown), Buffer.from(known)) < 0)
      shownOf.set(folded, shown);
  }
  const spellings = sortByBytes(shownOf.keys());
  const numberOf = new Map(spellings.map((spelling, number) => [spelling, number]));
  return {
    spellings: packTexts(spellings),
    gpsOfSpelling: packLists(
      spellings.length,
      entries.map(({ folded }) => numberOf.get(folded)!),
      entries.map(({ gp }) => gp),
    ),
    suggestions: indexSuggestions(
      spellings.map((folded) => ({ folded, shown: shownOf.get(folded)! })),
    ),
  };
}

/**
 * Adds the GPs that carry the value.
 * @returns false where no GP carries it.
 */
export function addCarriers(index: FacetIndex, folded: string, gps: Bitset): boolean {
  const spelling = indexOfText(index.spellings, Buffer.from(folded));
  if (spelling === -1) return false;
  const { starts, items } = index.gpsOfSpelling;
  for (let i = starts[spelling]!; i < starts[spelling + 1]!; i++) addBit(gps, items[i]!);
  return true;
}
