/** A sentence or two on what a GP does. */
import type { InventedGp } from "./cast.ts";
import { chance, pick, type Random } from "./random.ts";
import { propertyWords } from "./property-words.ts";
import { fill, template } from "./templates.ts";

const openings = [
  "{name} buys and improves {property} in {market}.",
  "{name} invests in {property}, mainly in {market}.",
  "From {city}, {name} owns and runs {property} for private investors.",
  "{name} is a family-owned investor in {property}, founded in {year}.",
  "{name} builds and holds {property} in {market} and neighboring areas.",
  "Since {year}, {name} has raised capital for {property} from individuals and institutions.",
].map(template);

const closings = [
  "It manages each property itself.",
  "Its investors are family offices and endowments.",
  "It holds for five to seven years.",
  "It buys below the cost of building anew.",
  "It works with local operators.",
];

/** Null for most: few sources describe a firm. */
export function describeGp(random: Random, gp: InventedGp): string | null {
  if (chance(random, 0.65)) return null;
  const opening = fill(pick(random, openings), (gap) => wordFor(gap, gp));
  return chance(random, 0.5) ? opening : `${opening} ${pick(random, closings)}`;
}

function wordFor(gap: string, gp: InventedGp): string {
  switch (gap) {
    case "name":
      return gp.name;
    case "city":
      return gp.city.name;
    case "year":
      return String(gp.foundedYear);
    case "property":
      return propertyWords[gp.propertyTypes[0] ?? "unknown"];
    default:
      return (gp.metros[0]?.cities[0] ?? gp.city).name;
  }
}
