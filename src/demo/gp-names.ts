/** Names of GPs, put together the way real ones are: a stem, often a sector, and how firms end. */
import { fold } from "#records/fold.ts";
import { phrases } from "./lists.ts";
import { chance, pick, weighted, type Random } from "./random.ts";
import type { Specialty } from "./specialties.ts";
import { inventStem } from "./stems.ts";
import { namesAbroad, namesInOtherScripts } from "./words.ts";

export interface GpName {
  name: string;
  /** The name without sector and ending, which funds are called after. */
  stem: string;
  /** The name in Latin letters; the same where it has no others. */
  latin: string;
  /** Where such names come from, ISO 3166 two letters. */
  country: string;
}

const someEnd = weighted([
  ["Partners", 13],
  ["Capital", 5],
  ["Capital Partners", 5],
  ["Capital Group", 1.2],
  ["Capital Management", 1.2],
  ["Realty", 8],
  ["Realty Partners", 4],
  ["Realty Investors", 2],
  ["Real Estate Partners", 5],
  ["Real Estate", 4],
  ["Real Estate Investors", 2],
  ["Equities", 5],
  ["Equity Partners", 4],
  ["Equity", 2],
  ["Investments", 6],
  ["Investment Group", 3],
  ["Investment Partners", 3],
  ["Holdings", 6],
  ["Properties", 9],
  ["Property Group", 4],
  ["Property Company", 1.5],
  ["Group", 4],
  ["Development", 4],
  ["Development Partners", 2],
  ["Advisors", 3],
  ["Asset Management", 2],
  ["Ventures", 4],
  ["Companies", 2],
  ["Land Company", 1],
  ["& Co.", 1],
] as const);

const someEndAfterSector = weighted([
  ["Partners", 20],
  ["Capital", 7.5],
  ["Investors", 6],
  ["Holdings", 5],
  ["Properties", 9],
  ["Group", 7],
  ["Ventures", 4],
  ["Trust", 3],
  ["REIT", 1],
  ["Advisors", 2],
  ["Equities", 3],
  ["Management", 2],
  ["Development", 3],
] as const);

/** A name that suits the specialty; whether it is taken already is for the caller to see. */
export function inventName(random: Random, { nameWords }: Specialty): GpName {
  const draw = random();
  if (draw < 0.002) return nameInOtherScript(random);
  if (draw < 0.03) return nameAbroad(random);
  const stem = inventStem(random);
  const name =
    nameWords.length > 0 && chance(random, 0.4)
      ? `${stem} ${pick(random, nameWords)} ${someEndAfterSector(random)}`
      : `${stem} ${someEnd(random)}`;
  return { name, stem, latin: name, country: "US" };
}

const branches = phrases("US | USA | America | North America | Texas | Florida | Atlantic | West");

function nameAbroad(random: Random): GpName {
  const [country = "", ends = "", names = ""] = pick(random, namesAbroad);
  const stem = pick(random, names.split(", "));
  const branch = chance(random, 0.6) ? ` ${pick(random, branches)}` : "";
  const name = `${stem}${branch} ${pick(random, ends.split(", "))}`;
  return { name, stem, latin: name, country };
}

function nameInOtherScript(random: Random): GpName {
  const [country = "", ends = "", names = ""] = pick(random, namesInOtherScripts);
  const [name = "", nameLatin = ""] = pick(random, names.split(", ")).split("=");
  const [end = "", endLatin = ""] = pick(random, ends.split(", ")).split("=");
  return { name: name + end, stem: nameLatin, latin: `${nameLatin} ${endLatin}`, country };
}

const someForm = weighted([
  [", LLC", 48],
  [" LLC", 12],
  [", L.P.", 9],
  [", LP", 12],
  [", Inc.", 7],
  [" Inc.", 3],
  [", L.L.C.", 4],
  [" Ltd.", 2],
] as const);

/** The name as registered; null where only the other is known. */
export function inventLegalName(random: Random, { latin }: GpName): string | null {
  if (chance(random, 0.1)) return null;
  const legalName = latin + someForm(random);
  return chance(random, 0.07) ? legalName.toUpperCase() : legalName;
}

const hostLengthMax = 60;

/** A host below `.example`, which RFC 2606 keeps for examples, so that it is nobody's. */
export function hostOf({ latin, country }: GpName): string {
  const plain = country === "US" ? latin.toLowerCase().replace(/['.]/g, "") : fold(latin);
  const label = plain.replace(/[^a-z0-9]+/g, "-").slice(0, hostLengthMax);
  return `${label.endsWith("-") ? label.slice(0, -1) : label}.example`;
}
