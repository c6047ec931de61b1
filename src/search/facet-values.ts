/** Lists the values of a facet, each in its own spelling, with the number of GPs that a query for it finds. */
import { fold } from "#records/fold.ts";
import type { DatasetParts, FacetName } from "./dataset-parts.ts";
import { type FacetIndex, valuesOf } from "./facet-index.ts";
import { spellingsOfMarket } from "./market-spellings.ts";
import { textAt } from "./packed-texts.ts";

interface FacetValue {
  value: string;
  /** Number of GPs that a query for the value finds. */
  gpCount: number;
  /** Other spellings that find a market, and perhaps other markets, too. */
  spellings: readonly string[];
}

/** Lists the values that GPs carry, most GPs first, then in the byte order of the folded values. */
export function listFacetValues({ facets }: DatasetParts, facet: FacetName): FacetValue[] {
  const index = facets[facet];
  return longestSpellings(index)
    .map((value) => ({ value, folded: Buffer.from(fold(value)) }))
    .map((one) => ({ ...one, gpCount: countGps(index, one.folded) }))
    .toSorted((a, b) => b.gpCount - a.gpCount || Buffer.compare(a.folded, b.folded))
    .map(({ value, gpCount }) => ({ value, gpCount, spellings: otherSpellings(facet, value) }));
}

function countGps(index: FacetIndex, folded: Buffer): number {
  const { starts, items } = index.gpsOfValue;
  const [value, ...others] = valuesOf(index, folded.toString());
  // Most spellings mean one value, whose list names each GP once.
  if (others.length === 0) return starts[value! + 1]! - starts[value!]!;
  const gps = new Set<number>();
  for (const one of [value!, ...others])
    for (let at = starts[one]!; at < starts[one + 1]!; at++) gps.add(items[at]!);
  return gps.size;
}

const otherSpellings = (facet: FacetName, value: string): string[] =>
  facet === "market"
    ? spellingsOfMarket(value)
        .slice(1)
        .map(({ shown }) => shown)
    : [];

/**
 * Returns the longest spelling of each value, each once. For a market that is its title, as every other spelling is a part
 * of it. Any other facet has only one.
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
