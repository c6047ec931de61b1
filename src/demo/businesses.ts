/** Where a GP sits and buys, how it earns and since when. */
import { lastYear } from "./dates.ts";
import { trimmed } from "./lists.ts";
import { citiesAbroad, someCity, someMetro, type City, type Metro } from "./places.ts";
import { chance, weighted, whole, type Random } from "./random.ts";
import type { Specialty, Strategy } from "./specialties.ts";

/** How many GPs count as large: they are in more markets and have more names and files. */
export const largeCount = 200;

/** Half of those with a name of another language sit there. */
export function someHeadOffice(random: Random, country: string, home: Metro): City {
  const abroad = country !== "US" && chance(random, 0.5) ? citiesAbroad.get(country) : undefined;
  return abroad ?? someCity(random, home);
}

/** Its own area and others. */
export function someMetros(random: Random, home: Metro, number: number): Metro[] {
  const share = random();
  const others = number <= largeCount ? whole(random, 1, 7) : Math.floor(share * share * 4);
  if (others === 0) return [home];
  const metros = [home];
  for (let at = 0; at < others; at++) {
    const metro = someMetro(random);
    if (!metros.includes(metro)) metros.push(metro);
  }
  return trimmed(metros);
}

const someStrategy = weighted<Strategy>([
  ["value_add", 40],
  ["opportunistic", 17],
  ["core_plus", 12],
  ["core", 8],
  ["development", 16],
  ["debt", 4],
  ["distressed", 4],
  ["co_investment", 4],
  ["fund_of_funds", 1.5],
  ["secondaries", 1.5],
]);

export function someStrategies(random: Random, { lends }: Specialty): Strategy[] {
  const first = lends ? "debt" : someStrategy(random);
  const second = chance(random, 0.35) ? someStrategy(random) : first;
  return second === first ? [first] : [first, second];
}

/** From seventy years ago to last year, the more likely the later. */
export function someFoundedYear(random: Random): number {
  const share = random();
  return lastYear - 1 - Math.floor(share * share * 70);
}
