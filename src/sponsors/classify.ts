/** Classifies issuers as funds, projects or neither, and finds what they invest in, by names and ticked boxes. */
import { fold } from "#records/fold.ts";
import type { propertyTypes, strategies } from "#records/vocabulary.ts";
import type { AdviserFiling, AdviserFund, FormD } from "#filings/rows.ts";
import { isAddressLike, isWordOf, namesStreet, professionIn, wordsOf } from "./names.ts";
import words from "./subject-words.json" with { type: "json" };

export interface Classification {
  kind: "fund" | "project" | "out";
  /** Facts that decided, such as a word, a ticked box or the industry. */
  reason: string;
  /** True for a round that only gives a REIT the 100 holders it needs. It raises no capital and makes no signal. */
  isAccommodation: boolean;
}

/** Returns a word or phrase in a name that means real estate, or null. Phrases of `notRealEstate` exclude a name. */
export function realEstateWord(name: string): string | null {
  const text = ` ${fold(name)} `;
  if (wordsOf("notRealEstate").some((words) => text.includes(` ${words} `))) return null;
  const words = [...wordsOf("realEstatePhrases"), ...wordsOf("realEstate")];
  return words.find((word) => text.includes(` ${word} `)) ?? null;
}

/** Returns the word or phrase in an issuer's name that means a fund, or null. `M2MFUND` counts, but not `Funding`. */
function fundWord(name: string): string | null {
  const text = fold(name);
  const program = /\b(?:portfolio|net leased?|income|program|diversified)\b.*\bdst\b/.exec(text);
  if (program) return program[0];
  return (
    text.split(" ").find((word) => isWordOf("fund", word) || /[a-z0-9]funds?$/.test(word)) ??
    /\bseries of\b|\bincome trust\b|\bco invest\w*|\binvestment trust\b/.exec(text)?.[0] ??
    null
  );
}

const isIn = ({ industry }: FormD, group: string): boolean => fold(industry ?? "") === group;

/** Returns the industry or word by which an issuer calls itself a fund, or null. A ticked box alone is not enough. */
export function fundReason(filing: FormD): string | null {
  if (isIn(filing, "pooled investment fund")) return "pooled by industry";
  if (isIn(filing, "reits and finance")) return `industry ${filing.industry}`;
  const word = fundWord(filing.issuers[0]!.name);
  return word && `"${word}" in the name`;
}

/**
 * Classifies a filing's issuer.
 * @param sponsors names of the firms behind it
 * @param adviserReason reason in a Form ADV for classifying the issuer as real estate; null if there is none
 */
export function classify(
  filing: FormD,
  sponsors: readonly string[] = [],
  adviserReason: string | null = null,
): Classification {
  const why = realEstateReason(filing, sponsors, adviserReason);
  if (why === null) {
    const reason = `industry ${filing.industry ?? "not given"}, no real-estate word`;
    return { kind: "out", reason, isAccommodation: false };
  }
  const fund = fundReason(filing) ?? (filing.isPooledTicked ? "pooled interest ticked" : null);
  return {
    kind: fund === null ? "project" : "fund",
    reason: fund === null ? why : `${why}; ${fund}`,
    isAccommodation: isAccommodationRound(filing),
  };
}

const hasRealEstateIndustry = ({ industry }: FormD) =>
  isWordOf("realEstateIndustries", fold(industry ?? ""));

/** Reports whether a filing may concern real estate, whoever its sponsor is. */
export const mayBeRealEstate = (filing: FormD): boolean =>
  hasRealEstateIndustry(filing) ||
  filing.isPooledTicked ||
  isIn(filing, "pooled investment fund") ||
  isIn(filing, "investing");

function realEstateReason(
  filing: FormD,
  sponsors: readonly string[],
  adviserReason: string | null,
): string | null {
  if (hasRealEstateIndustry(filing)) return `industry ${filing.industry}`;
  if (!mayBeRealEstate(filing)) return null;
  if (filing.exemptions.some((code) => /^3c\.?5$/i.test(code.trim()))) return "exemption 3C.5";
  if (/^(?:65\d\d|6798)$/.test(filing.sicCode ?? "")) return `SIC ${filing.sicCode}`;
  for (const name of [...filing.issuers.map((issuer) => issuer.name), ...sponsors]) {
    const word = realEstateWord(name);
    if (word) return `"${word}" in "${name}"`;
    if (isAddressLike(name) && namesStreet(name)) return `"${name}" is an address`;
  }
  return adviserReason;
}

/** Reports whether a REIT offers 100 to 150 preferred shares at $1,000 each, judged by its amounts or its seller. */
function isAccommodationRound(filing: FormD): boolean {
  const isReit =
    isIn(filing, "reits and finance") ||
    filing.issuers.some(({ name }) => / reit /.test(` ${fold(name)} `));
  if (!isReit) return false;
  const isListed = filing.recipients.some(({ name, broker }) =>
    [name, broker].some((firm) => firm !== null && professionIn(firm) === "accommodation"),
  );
  const amount = filing.offeredUsd ?? filing.soldUsd ?? 0;
  const isKnown = filing.offeredUsd !== null || (filing.investorCount ?? 0) >= 100;
  const isRound = isKnown && amount >= 100_000 && amount <= 150_000;
  return isListed ? amount < 1_000_000 : isRound && (filing.minimumUsd ?? 0) <= 1000;
}

export const isRealEstateFund = ({ type }: Pick<AdviserFund, "type">): boolean =>
  fold(type ?? "") === "real estate fund";

/**
 * Reports whether an adviser invests in real estate, judged by its funds, their offerings and its names.
 * @param offerings file numbers and folded issuer names of real-estate offerings
 */
export const investsInRealEstate = (
  { legalName, businessName, otherNames, funds }: AdviserFiling,
  offerings: Readonly<Record<"files" | "fundNames", ReadonlySet<string>>>,
): boolean =>
  funds.some(
    (fund) =>
      isRealEstateFund(fund) ||
      offerings.fundNames.has(fold(fund.name)) ||
      fund.formDFiles.some((number) => offerings.files.has(number)),
  ) ||
  [legalName, businessName, ...otherNames].some((name) => name && realEstateWord(name) !== null);

/** Returns a function that finds the values with a phrase in a folded text. The text needs a space at either end. */
function matcherOf<V extends string>(list: Readonly<Record<string, readonly string[]>>) {
  const patterns = Object.entries(list).map(
    ([value, phrases]) => [value as V, new RegExp(` (?:${phrases.join("|")}) `)] as const,
  );
  return (folded: string): V[] =>
    patterns.filter(([, pattern]) => pattern.test(folded)).map(([value]) => value);
}

const strategiesIn = matcherOf<(typeof strategies)[number]>(words.strategies);
const propertyTypesIn = matcherOf<(typeof propertyTypes)[number]>(words.property_types);
const themesIn = matcherOf(words.themes);

/**
 * Returns the strategies, property types and themes that names mention, each kind in the order of its word list. Leaves
 * out a match that a more specific one replaces, such as `core` beside `core_plus`.
 */
export function subjectsOf(names: readonly string[]) {
  const folded = ` ${names.map(fold).join("   ")} `;
  const [how, what] = [strategiesIn(folded), propertyTypesIn(folded)];
  const isOtherStorage = / (?:cold|outdoor) storage /.test(folded);
  const isMedical = what.includes("medical_office");
  return {
    strategies: how.filter((one) => one !== "core" || !how.includes("core_plus")),
    property_types: what.filter(
      (one) => !(one === "self_storage" && isOtherStorage) && !(one === "office" && isMedical),
    ),
    themes: themesIn(folded),
  };
}

const tagTests: readonly (readonly [tag: string, (filing: FormD) => boolean])[] = [
  ["reg_d_506b", ({ exemptions }) => exemptions.includes("06b")],
  ["reg_d_506c", ({ exemptions }) => exemptions.includes("06c")],
  ["section_3c5", ({ exemptions }) => exemptions.includes("3C.5")],
  ["pooled_fund", ({ isPooledTicked }) => isPooledTicked],
  ["tic", ({ isTenantInCommonTicked }) => isTenantInCommonTicked],
  ["dst", ({ issuers }) => / dst /.test(` ${fold(issuers[0]!.name)} `)],
  ["amended", ({ type }) => type === "D/A"],
  ["indefinite_offering", ({ isIndefinite }) => isIndefinite],
  ["non_accredited_allowed", ({ allowsNonAccredited }) => allowsNonAccredited],
];

export const tagsOf = (filings: readonly FormD[]): string[] =>
  tagTests.filter(([, test]) => filings.some(test)).map(([tag]) => tag);

export const sizeBand = (aumUsd: number): string =>
  words.sizes.findLast(({ fromUsd }) => aumUsd >= fromUsd)!.tag;
