/** The ways to ask for a metropolitan area: by its title, its cities, a city and a state. */
import { fold } from "#records/fold.ts";

/** Cities whose own name has a hyphen, so that a title is not cut inside it. */
const hyphenatedCities = [
  "Winston-Salem",
  "Wilkes-Barre",
  "Dover-Foxcroft",
  "Milton-Freewater",
  "Fuquay-Varina",
] as const;

/** `City-City, ST-ST`, the form of the titles of the US Office of Management and Budget. */
const metropolitanTitle = /^(?<cities>[^,]+), ?(?<states>[A-Z]{2}(?:-[A-Z]{2})*)$/i;

interface Spelling {
  folded: string;
  shown: string;
}

/** Every spelling that finds the market, each folded form once; a market of another form only as it is written. */
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

/** What people call the market: its first city and state. A market of another form is called as it is written. */
export function placeOfMarket(market: string): string {
  const { cities, states } = metropolitanTitle.exec(market)?.groups ?? {};
  const city = cities === undefined ? undefined : citiesOf(cities)[0];
  return city === undefined ? market : `${city}, ${states!.split("-")[0]}`;
}

const hyphenatedCity = new RegExp(`(?<=^|-)(${hyphenatedCities.join("|")})(?=-|$)`, "gi");
// A character no name holds stands for a hyphen that belongs to a city.
const kept = "\u0000";

function citiesOf(cities: string): string[] {
  return cities
    .replace(hyphenatedCity, (city) => city.replaceAll("-", kept))
    .split("-")
    .map((city) => city.replaceAll(kept, "-").trim())
    .filter((city) => city !== "");
}
