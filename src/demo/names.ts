/** Names of GPs, funds and buildings, built the way real ones are; sentences and amounts the way people write them. */
import { fold } from "#records/fold.ts";
import { chance, pick, pickEarly, weightedKeys, whole, type Random } from "./random.ts";

import words from "./words.json" with { type: "json" };

export interface GpName {
  name: string;
  /** Name without sector and ending; its funds are named after it. */
  stem: string;
  /** Name in Latin letters; the same as `name` if that has no others. */
  latin: string;
  /** Country that such names come from, ISO 3166 two letters. */
  country: string;
}

const lists: Readonly<Record<string, readonly string[]>> = words.lists;
const letters = "BCDFGHJKLMNPRSTVW";

/** Fills the gaps of a pattern, such as `{tree} {landform}`. @param stem name for the gap `stem`, as in a fund's name. */
export const inventFrom = (random: Random, pattern: string, stem = ""): string =>
  fill(pattern, (gap) => {
    switch (gap) {
      case "stem":
        return stem;
      case "compound":
        return pickEarly(random, words.compoundHeads) + pickEarly(random, words.compoundTails);
      case "letter":
        return letters[whole(random, 0, letters.length - 1)]!;
      case "number":
        return String(whole(random, 2, 99));
      case "numeral":
        return pickEarly(random, words.numerals, 3);
      case "phase":
        // Most buildings have a name of their own.
        return chance(random, 0.7) ? "" : words.numerals[whole(random, 0, 3)]!;
      default:
        return pick(random, lists[gap]!);
    }
  }).trimEnd();

const someStem = weightedKeys(words.stems);
const someEnd = weightedKeys(words.firmEnds);
const someEndAfterSector = weightedKeys(words.firmEndsAfterSector);

/**
 * Returns a name that may already be taken: a stem, often a sector, and an ending.
 * @param nameWords words for the GP's sector in names; none for GPs without a sector.
 */
export function inventName(
  random: Random,
  { nameWords }: { nameWords: readonly string[] },
): GpName {
  if (chance(random, 0.025)) return nameAbroad(random);
  const stem = inventFrom(random, someStem(random));
  const name =
    nameWords.length > 0 && chance(random, 0.4)
      ? `${stem} ${pick(random, nameWords)} ${someEndAfterSector(random)}`
      : `${stem} ${someEnd(random)}`;
  return { name, stem, latin: name, country: "US" };
}

/** Returns a name from abroad. In the word lists another script is followed by its Latin spelling. */
function nameAbroad(random: Random): GpName {
  const { country, ends, names } = pick(random, words.namesAbroad);
  const [name = "", stem = name] = pick(random, names).split("|");
  const [end = "", endLatin = end] = pick(random, ends).split("|");
  return { name: name + end, stem, latin: stem + endLatin, country };
}

const someForm = weightedKeys(words.legalForms);

/** Returns the name as registered. Returns null if only the other name is known. */
export function inventLegalName(random: Random, { latin }: GpName): string | null {
  if (chance(random, 0.1)) return null;
  const legalName = latin + someForm(random);
  return chance(random, 0.07) ? legalName.toUpperCase() : legalName;
}

/** Returns a host below `.example`, which belongs to nobody: RFC 2606 reserves it for examples. */
export const hostOf = ({ latin }: GpName): string =>
  `${fold(latin.replaceAll(/['.]/g, "")).replaceAll(/[^a-z0-9]+/g, "-")}.example`;

const someFundName = weightedKeys(words.fundNames);
const someManagerName = weightedKeys(words.managerNames);

/** Invents the name of a fund, or of a company with one property, such as `Northwind Real Estate Fund III, LP`. */
export const inventVehicle = (random: Random, stem: string): string =>
  inventFrom(random, someFundName(random), stem);

/** Invents the name with which the manager of a fund signs, such as `Northwind Fund III GP, LP`. */
export const inventManager = (random: Random, stem: string): string =>
  inventFrom(random, someManagerName(random), stem);

/** Fills the gaps of a sentence, such as `{gp} buys {project}`, from left to right. */
export const fill = (sentence: string, say: (gap: string) => string): string =>
  sentence.replace(/\{(\w+)\}/g, (_, gap: string) => say(gap));

/** Rounds to three digits: 48,137,522 becomes 48,100,000. */
export const roundAmount = (value: number): number => Number(value.toPrecision(3));

const million = 1_000_000;
const billion = 1000 * million;

/** Returns a rounded amount of at least 1,000 in words, such as `$48.1 million`. */
export function amountWords(value: number): string {
  if (value >= billion) return `$${twoDecimals(value / billion)} billion`;
  if (value >= million) return `$${twoDecimals(value / million)} million`;
  return `$${Math.round(value / 1000)},000`;
}

const twoDecimals = (value: number) => String(Math.round(value * 100) / 100);
