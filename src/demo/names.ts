/** Names of GPs and of their funds, put together the way real ones are: a stem, often a sector, and an ending. */
import { fold } from "#records/fold.ts";
import { chance, pick, pickEarly, weighted, weightedKeys, whole, type Random } from "./random.ts";
import { fill } from "./text.ts";
import words from "./words.json" with { type: "json" };

export interface GpName {
  name: string;
  /** The name without sector and ending; its funds are named after it. */
  stem: string;
  /** The name in Latin letters; the same where it has no others. */
  latin: string;
  /** Where such names come from, ISO 3166 two letters. */
  country: string;
}

const someEnd = weightedKeys(words.firmEnds);
const someEndAfterSector = weightedKeys(words.firmEndsAfterSector);

/**
 * A name that may already be taken.
 * @param nameWords what the GP's sector is called in names; none for GPs without a sector.
 */
export function inventName(
  random: Random,
  { nameWords }: { nameWords: readonly string[] },
): GpName {
  const draw = random();
  if (draw < 0.002) return nameInOtherScript(random);
  if (draw < 0.03) return nameAbroad(random);
  const stem = someStem(random)(random);
  const name =
    nameWords.length > 0 && chance(random, 0.4)
      ? `${stem} ${pick(random, nameWords)} ${someEndAfterSector(random)}`
      : `${stem} ${someEnd(random)}`;
  return { name, stem, latin: name, country: "US" };
}

const consonants = "BCDFGHJKLMNPRSTVW";
const letter = (random: Random) => consonants[whole(random, 0, consonants.length - 1)] as string;
const animal = (random: Random) => pick(random, words.animals);
const colour = (random: Random) => pick(random, words.colours);
const landform = (random: Random) => pick(random, words.landforms);
const surname = (random: Random) => pick(random, words.firmSurnames);
const tree = (random: Random) => pick(random, words.trees);

/** What tells one firm from another: `Northwind`, `Blue Heron`, `Hale & Whitlock`, `Pier 9`. */
const someStem = weighted<(random: Random) => string>([
  [(random) => pickEarly(random, words.compoundHeads) + pickEarly(random, words.compoundTails), 34],
  [(random) => `${colour(random)} ${animal(random)}`, 6],
  [(random) => `${colour(random)} ${landform(random)}`, 6],
  [(random) => `${tree(random)} ${landform(random)}`, 8],
  [tree, 3],
  [animal, 3],
  [surname, 8],
  [(random) => `${surname(random)} & ${surname(random)}`, 5],
  [(random) => `${letter(random)}.${letter(random)}. ${surname(random)}`, 2],
  [(random) => `${letter(random)}&${letter(random)}`, 3],
  [(random) => pick(random, words.regions), 7],
  [(random) => pick(random, words.singles), 10],
  [(random) => `${pick(random, words.trades)}'s ${landform(random)}`, 1.5],
  [(random) => `${pick(random, words.beforeNumbers)} ${whole(random, 2, 99)}`, 1],
  [(random) => `${whole(random, 2, 99)} ${pick(random, words.afterNumbers)}`, 0.7],
  [(random) => `${pick(random, words.ordinals)} ${landform(random)}`, 1],
  [(random) => String(whole(random, 1801, 1999)), 0.5],
]);

function nameAbroad(random: Random): GpName {
  const { country, ends, names } = pick(random, words.namesAbroad);
  const stem = pick(random, names);
  const branch = chance(random, 0.6) ? ` ${pick(random, words.branches)}` : "";
  const name = `${stem}${branch} ${pick(random, ends)}`;
  return { name, stem, latin: name, country };
}

function nameInOtherScript(random: Random): GpName {
  const { country, ends, names } = pick(random, words.namesInOtherScripts);
  const [name = "", nameLatin = ""] = pick(random, names);
  const [end = "", endLatin = ""] = pick(random, ends);
  return { name: name + end, stem: nameLatin, latin: `${nameLatin} ${endLatin}`, country };
}

const someForm = weightedKeys(words.legalForms);

/** The name as registered; null where only the other is known. */
export function inventLegalName(random: Random, { latin }: GpName): string | null {
  if (chance(random, 0.1)) return null;
  const legalName = latin + someForm(random);
  return chance(random, 0.07) ? legalName.toUpperCase() : legalName;
}

const hostLengthMax = 60;

/** A host below `.example`, which RFC 2606 reserves for examples, so that it is nobody's. */
export function hostOf({ latin, country }: GpName): string {
  const plain = country === "US" ? latin.toLowerCase().replace(/['.]/g, "") : fold(latin);
  const label = plain.replace(/[^a-z0-9]+/g, "-").slice(0, hostLengthMax);
  return `${label.endsWith("-") ? label.slice(0, -1) : label}.example`;
}

const someFundName = weightedKeys(words.fundNames);
const someManagerName = weightedKeys(words.managerNames);

/** A fund, or a company that owns one property, such as `Northwind Real Estate Fund III, LP`. */
export const inventVehicle = (random: Random, stem: string): string =>
  fill(someFundName(random), (gap) => vehicleWord(random, gap, stem));

/** Whoever manages such a fund, as it signs: `Northwind Fund III GP, LP`. */
export const inventManager = (random: Random, stem: string): string =>
  fill(someManagerName(random), (gap) => vehicleWord(random, gap, stem));

function vehicleWord(random: Random, gap: string, stem: string): string {
  if (gap === "stem") return stem;
  if (gap === "street") return pick(random, words.streets);
  return words.numerals[whole(random, 0, chance(random, 0.8) ? 4 : 11)] as string;
}
