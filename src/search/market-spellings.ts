/** Spellings of a metropolitan area: its title, its cities, a city and a state; and the name that people use for it. */
import { fold } from "#records/fold.ts";

/** Cities with a hyphen in their own name, where a title must not be split. */
const hyphenatedCities = [
  "Winston-Salem",
  "Wilkes-Barre",
  "Dover-Foxcroft",
  "Milton-Freewater",
  "Fuquay-Varina",
] as const;

/** Form of the titles of the US Office of Management and Budget: `City-City, ST-ST`. */
const metropolitanTitle = /^(?<cities>[^,]+), ?(?<states>[A-Z]{2}(?:-[A-Z]{2})*)$/i;

interface Spelling {
  folded: string;
  shown: string;
}

/** Returns every spelling that finds the market, each folded form once. A market of another form has only its own. */
export function spellingsOfMarket(market: string): Spelling[] {
  const title = metropolitanTitle.exec(market);
  const shown = [market, ...(title === null ? [] : partsOf(title.groups!))];
  const byFold = new Map<string, string>();
  for (const spelling of shown) {
    const folded = fold(spelling);
    if (folded !== "" && !byFold.has(folded)) byFold.set(folded, spelling);
  }
  return Array.from(byFold, ([folded, spelling]) => ({ folded, shown: spelling }));
}

function partsOf(groups: Record<string, string>): string[] {
  const cities = groups["cities"]!;
  const states = groups["states"]!.split("-");
  const names = citiesOf(cities);
  return [cities, ...names, ...names.flatMap((city) => states.map((state) => `${city}, ${state}`))];
}

const hyphenatedCity = new RegExp(`(?<=^|-)(${hyphenatedCities.join("|")})(?=-|$)`, "gi");
// A character that is in no name replaces a hyphen that belongs to a city.
const kept = "\u0000";

function citiesOf(cities: string): string[] {
  return cities
    .replace(hyphenatedCity, (city) => city.replaceAll("-", kept))
    .split("-")
    .map((city) => city.replaceAll(kept, "-").trim())
    .filter((city) => city !== "");
}

/** The part of a read model that names need. */
interface Model {
  values(kind: "gp" | "signal", name: "market"): readonly string[];
}

const known = new WeakMap<Model, ReadonlyMap<string, string>>();

/** Returns the name that people use for a market, by its title. The names are made once for a dataset. */
export const nameOfMarket = (model: Model, title: string): string =>
  (known.get(model) ?? nameMarkets(model)).get(fold(title)) ?? title;

/**
 * Names markets by their first city and state, if only one market has that place. Among titles that fold to the same, the
 * first gives the name.
 * @returns folded title → name of the market.
 */
function nameMarkets(model: Model): ReadonlyMap<string, string> {
  const titleOf = new Map<string, string>();
  for (const title of [...model.values("gp", "market"), ...model.values("signal", "market")])
    if (!titleOf.has(fold(title))) titleOf.set(fold(title), title);
  const marketsOf = new Map<string, number>();
  for (const title of titleOf.values())
    for (const { folded } of spellingsOfMarket(title))
      marketsOf.set(folded, (marketsOf.get(folded) ?? 0) + 1);
  const names = new Map(
    Array.from(titleOf, ([folded, title]) => {
      const place = placeOf(title);
      return [folded, marketsOf.get(fold(place)) === 1 ? place : title];
    }),
  );
  known.set(model, names);
  return names;
}

/** Returns the first city and state of a market. A market of another form keeps its title. */
function placeOf(title: string): string {
  const { cities = "", states = "" } = metropolitanTitle.exec(title)?.groups ?? {};
  const [city] = citiesOf(cities);
  return city === undefined ? title : `${city}, ${states.split("-")[0]}`;
}
