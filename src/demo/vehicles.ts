/** Names of the funds and companies a GP raises money through, and of those that run them. */
import { chance, pick, weighted, whole, type Random } from "./random.ts";
import { template, fill, type Template } from "./templates.ts";
import { numerals, streets } from "./words.ts";

const fundNames = weighted<Template>([
  [template("{stem} Fund {numeral}, LP"), 8],
  [template("{stem} Real Estate Fund {numeral}, LP"), 8],
  [template("{stem} Opportunity Fund {numeral}, L.P."), 3],
  [template("{stem} Income Fund {numeral}, LLC"), 4],
  [template("{stem} Growth & Income {numeral}, LP"), 2],
  [template("{stem} {street} Investors, LLC"), 5],
  [template("{stem} {street} Owner, LLC"), 2],
  [template("{stem} Co-Invest {numeral}, LP"), 2],
  [template("{stem} QOZ Fund {numeral}, LLC"), 1],
  [template("{stem} {street} DST"), 1],
]);

const managerNames = weighted<Template>([
  [template("{stem} GP {numeral}, LLC"), 8],
  [template("{stem} Fund {numeral} GP, LP"), 6],
  [template("{stem} GP, LLC"), 5],
  [template("{stem} Manager, LLC"), 4],
  [template("{stem} {street} Manager LLC"), 2],
  [template("{stem} Sponsor {numeral}, LLC"), 1],
]);

/** A fund or a company that owns one property, such as `Northwind Real Estate Fund III, LP`. */
export const inventVehicle = (random: Random, stem: string): string =>
  fill(fundNames(random), (gap) => vehicleWord(random, gap, stem));

/** Whoever manages such a fund, as it signs: `Northwind Fund III GP, LP`. */
export const inventManager = (random: Random, stem: string): string =>
  fill(managerNames(random), (gap) => vehicleWord(random, gap, stem));

function vehicleWord(random: Random, gap: string, stem: string): string {
  if (gap === "stem") return stem;
  if (gap === "street") return pick(random, streets);
  return numerals[whole(random, 0, chance(random, 0.8) ? 4 : 11)] as string;
}
