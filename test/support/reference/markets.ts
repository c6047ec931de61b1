/** All the ways to write one market: its title, the part before the comma, its cities, a city and a state. */
import { fold } from "./fold.ts";

const hyphenatedCities = [
  "Winston-Salem",
  "Wilkes-Barre",
  "Dover-Foxcroft",
  "Milton-Freewater",
  "Fuquay-Varina",
];

/** The spellings as shown, title first; only the title where it is not of the form `City-City, ST-ST`. */
export function marketSpellings(title: string): string[] {
  const [before, after, ...more] = title.split(",").map((part) => part.trim());
  if (before === undefined || after === undefined || more.length > 0) return [title];
  const states = after.split("-");
  if (!states.every(isState)) return [title];
  const cities = citiesOf(before);
  const citiesAndStates = cities.flatMap((city) => states.map((state) => `${city}, ${state}`));
  return [title, before, ...cities, ...citiesAndStates].filter((spelling) => fold(spelling) !== "");
}

function isState(text: string): boolean {
  return /^[A-Za-z]{2}$/.test(text);
}

function citiesOf(text: string): string[] {
  const cities: string[] = [];
  let rest = text;
  while (rest !== "") {
    const city = hyphenatedCityAt(rest) ?? rest.split("-")[0] ?? "";
    cities.push(city.trim());
    rest = rest.slice(city.length + 1);
  }
  return cities.filter((city) => fold(city) !== "");
}

function hyphenatedCityAt(text: string): string | undefined {
  const start = `${text.toLowerCase()}-`;
  const found = hyphenatedCities.find((city) => start.startsWith(`${city.toLowerCase()}-`));
  return found && text.slice(0, found.length);
}
