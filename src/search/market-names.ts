/** What each market is called where people choose one: its first city and state, if they mean no other market. */
import { fold } from "#records/fold.ts";
import { placeOfMarket, spellingsOfMarket } from "./market-spellings.ts";

/**
 * @param titles all there are; of those that fold to the same the first gives the name.
 * @returns folded title → a spelling of the market.
 */
export function nameMarkets(titles: Iterable<string>): Map<string, string> {
  const titleOf = new Map<string, string>();
  for (const title of titles) if (!titleOf.has(fold(title))) titleOf.set(fold(title), title);
  const marketsOf = new Map<string, number>();
  for (const title of titleOf.values())
    for (const { folded } of spellingsOfMarket(title))
      marketsOf.set(folded, (marketsOf.get(folded) ?? 0) + 1);
  return new Map(
    Array.from(titleOf, ([folded, title]) => {
      const place = placeOfMarket(title);
      return [folded, marketsOf.get(fold(place)) === 1 ? place : title];
    }),
  );
}
