/** Spellings of a metropolitan area: its title, its cities, a city and a state. */
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

/** Returns the name that people use for a market: its first city and state. A market of another form keeps its own. */
export function placeOfMarket(market: string): string {
  const { cities, states } = metropolitanTitle.exec(market)?.groups ?? {};
  const city = cities === undefined ? undefined : citiesOf(cities)[0];
  return city === undefined ? market : `${city}, ${states!.split("-")[0]}`;
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
