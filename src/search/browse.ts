/** Names the markets of a dataset as people do, to browse by. */
import { fold } from "#records/fold.ts";
import { placeOfMarket, spellingsOfMarket } from "./market-spellings.ts";
import type { ReadModel } from "./read-model.ts";

const known = new WeakMap<ReadModel, ReadonlyMap<string, string>>();

/** Returns the name that people use for a market, by its title. The names are made once for a dataset. */
export function nameOfMarket(model: ReadModel, title: string): string {
  let names = known.get(model);
  if (names === undefined) {
    names = nameMarkets([...model.values("gp", "market"), ...model.values("signal", "market")]);
    known.set(model, names);
  }
  return names.get(fold(title)) ?? title;
}

/**
 * Names markets by city and state, if only one market has that place.
 * @param titles all of them; among titles that fold to the same, the first gives the name.
 * @returns folded title → name of the market.
 */
function nameMarkets(titles: Iterable<string>): Map<string, string> {
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
