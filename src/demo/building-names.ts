/** Names of properties, by what they are: `The Alder at Mueller`, `Sunset Logistics Center II`. */
import { phrases } from "./lists.ts";
import { chance, pick, whole, type Random } from "./random.ts";
import { fill, template, type Template } from "./templates.ts";
import {
  animals,
  compoundHeads,
  compoundTails,
  landforms,
  numerals,
  quarters,
  streets,
  trees,
} from "./words.ts";

const named = (text: string) => phrases(text).map(template);

export const apartments = named(`
  The {tree} at {quarter} | {tree} {landform} Apartments | The {compound} | {compound} Lofts
  {quarter} Flats | {number} {street} Street | Residences at {compound} | {tree} {landform} | The {animal}
`);
export const homes = named(`
  {tree} {landform} Homes | {compound} Townhomes | Cottages at {compound} | Villas at {tree} {landform}
`);
export const campus = named(
  "{compound} Student Residences | The {animal} on {street} | {quarter} Commons",
);
export const care = named(
  "{tree} {landform} Senior Living | {compound} House | The Terraces at {compound}",
);
export const parks = named(
  "{tree} {landform} Estates | {compound} Village | {animal} Run Community",
);
export const sheds = named(`
  {compound} Logistics Center {numeral} | {street} Distribution Center | {compound} Commerce Park
  {street} Logistics Center {numeral} | {tree} {landform} Industrial Park
`);
export const yards = named(
  "{street} Yard | {compound} Terminal {numeral} | {street} Truck Terminal",
);
export const offices = named(
  "{number} {street} Street | One {compound} Plaza | {compound} Tower | {street} Center",
);
export const clinics = named(
  "{compound} Medical Plaza | {quarter} Medical Center | {street} Clinic",
);
export const labs = named(
  "{compound} Science Park | {quarter} Labs {numeral} | {number} {street} Labs",
);
export const shops = named("Shops at {compound} | {quarter} Marketplace | {tree} {landform} Plaza");
export const hotels = named(
  "Hotel {compound} | The {animal} Inn | {quarter} Suites | {compound} Lodge",
);
export const storage = named("{street} Self Storage | {compound} Storage | {quarter} Mini Storage");
export const servers = named("{compound} Data Campus | {street} Data Center {numeral}");
export const tracts = named(
  "{tree} {landform} Tract | {compound} Land Holdings | {street} Parcel {numeral}",
);
export const farms = named("{tree} {landform} Farm | {compound} Orchards | {animal} Creek Ranch");
export const garages = named("{street} Garage | {quarter} Parking");
export const docks = named("{compound} Marina | {animal} Cove Marina");
export const blocks = named(
  "{quarter} Place | {compound} Square | {number} {street} Street | Block {number}",
);

export const inventBuildingName = (random: Random, names: readonly Template[]): string =>
  fill(pick(random, names), (gap) => nameWord(random, gap)).trimEnd();

function nameWord(random: Random, gap: string): string {
  switch (gap) {
    case "tree":
      return pick(random, trees);
    case "animal":
      return pick(random, animals);
    case "landform":
      return pick(random, landforms);
    case "quarter":
      return pick(random, quarters);
    case "street":
      return pick(random, streets);
    case "compound":
      return pick(random, compoundHeads) + pick(random, compoundTails);
    case "number":
      return String(whole(random, 1, 999));
    default:
      // Most are the only building of their name.
      return chance(random, 0.7) ? "" : (numerals[whole(random, 0, 3)] as string);
  }
}
