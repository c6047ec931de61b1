/** The values of a facet, each by one spelling, and how many GPs of a set carry each. */
import { clear, countBits, keepCommon, makeBitset, type Bitset } from "./bitset.ts";
import { addCarriers, openFacet, type FacetIndex } from "./facet-index.ts";
import { textAt } from "./packed-texts.ts";

/**
 * The longest spelling of each value, each once: the title of a market, of which every other spelling is a part.
 * Of a tag or a theme it is the only one.
 */
export function longestSpellings(index: FacetIndex): string[] {
  const { spellings, valuesOfSpelling, suggestions } = index;
  const longest = new Map<number, { length: number; shown: string }>();
  suggestions.places.forEach((spelling, text) => {
    const { length } = textAt(spellings, spelling);
    const { starts, items } = valuesOfSpelling;
    for (let at = starts[spelling]!; at < starts[spelling + 1]!; at++)
      if (length > (longest.get(items[at]!)?.length ?? 0))
        longest.set(items[at]!, { length, shown: textAt(suggestions.shown, text) });
  });
  return [...new Set(Array.from(longest.values(), ({ shown }) => shown))];
}

interface FacetCounter {
  /** How many GPs of the set a query for the spelling finds. */
  count(folded: string, gps: Bitset): number;
}

export function openFacetCounter(index: FacetIndex, gpCount: number): FacetCounter {
  const facet = openFacet(index, gpCount);
  const carriers = makeBitset(gpCount);
  return {
    count(folded, gps) {
      clear(carriers);
      addCarriers(facet, folded, carriers);
      keepCommon(carriers, gps);
      return countBits(carriers);
    },
  };
}
