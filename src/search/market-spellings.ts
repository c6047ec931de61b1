/** Spellings of a metropolitan area (its title, its cities, or a city and a state), and its everyday name. */
import { fold } from "#records/fold.ts";
import { getOrCompute } from "./get-or-compute.ts";

/** Pattern of titles by the US Office of Management and Budget: `City-City, ST-ST`. */
const metropolitanTitle = /^(?<cities>[^,]+), ?(?<states>[A-Z]{2}(?:-[A-Z]{2})*)$/i;

export interface Spelling {
  folded: string;
  shown: string;
}

/** Returns the spellings of a market, its title first, one for each folded form. Drops those that fold to nothing. */
export function spellingsOfMarket(market: string): Spelling[] {
  const title = metropolitanTitle.exec(market);
  const shown = [market, ...(title === null ? [] : partsOf(title.groups!))];
  const byFold = new Map<string, string>();
  for (const spelling of shown) getOrCompute(byFold, fold(spelling), () => spelling);
  byFold.delete("");
  return Array.from(byFold, ([folded, spelling]) => ({ folded, shown: spelling }));
}

function partsOf(groups: Record<string, string>): string[] {
  const cities = groups["cities"]!;
  const states = groups["states"]!.split("-");
  const names = citiesOf(cities);
  return [cities, ...names, ...names.flatMap((city) => states.map((state) => `${city}, ${state}`))];
}

/** Pattern of each city in the part of a title before the comma. Some cities have a hyphen in their names. */
const cityInTitle =
  /(?:Winston-Salem|Wilkes-Barre|Dover-Foxcroft|Milton-Freewater|Fuquay-Varina)(?=-|$)|[^-]+/gi;

const citiesOf = (cities: string): string[] =>
  (cities.match(cityInTitle) ?? []).map((city) => city.trim()).filter((city) => city !== "");

/** The part of a read model that is needed to name markets. */
interface Model {
  values(kind: "gp" | "signal" | "project", name: "market"): readonly string[];
}

const known = new WeakMap<Model, ReadonlyMap<string, string>>();

/** Returns the everyday name of a market, or `title` if no record has it. Names are made once for each model. */
export const nameOfMarket = (model: Model, title: string): string =>
  getOrCompute(known, model, nameMarkets).get(fold(title)) ?? title;

/**
 * Names each market by its first city and state, or by its title if another market also has that spelling. Uses the
 * first of several titles with the same folded form.
 * @returns folded title → name of the market.
 */
function nameMarkets(model: Model): ReadonlyMap<string, string> {
  const titleOf = new Map<string, string>();
  for (const kind of ["gp", "signal", "project"] as const)
    for (const title of model.values(kind, "market"))
      getOrCompute(titleOf, fold(title), () => title);
  const marketsOf = new Map<string, number>();
  for (const title of titleOf.values())
    for (const { folded } of spellingsOfMarket(title))
      marketsOf.set(folded, (marketsOf.get(folded) ?? 0) + 1);
  return new Map(
    Array.from(titleOf, ([folded, title]) => {
      const place = placeOf(title);
      return [folded, marketsOf.get(fold(place)) === 1 ? place : title];
    }),
  );
}

/** Returns a market's first city and state, or its title if the title has another pattern. */
function placeOf(title: string): string {
  const { cities = "", states = "" } = metropolitanTitle.exec(title)?.groups ?? {};
  const [city] = citiesOf(cities);
  return city === undefined ? title : `${city}, ${states.split("-")[0]}`;
}
