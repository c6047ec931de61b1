/** Reads what a vehicle invests in, and how, from the words of its name and from the ticks of its filing. */
import type { FormD } from "#filings/rows.ts";
import { fold } from "#records/fold.ts";
import type { propertyTypes, strategies } from "#records/vocabulary.ts";
import words from "./subject-words.json" with { type: "json" };

function matcherOf(list: Readonly<Record<string, readonly string[]>>) {
  const patterns = Object.entries(list).map(
    ([value, phrases]) => [value, new RegExp(` (?:${phrases.join("|")}) `)] as const,
  );
  return (folded: string): string[] =>
    patterns.filter(([, pattern]) => pattern.test(folded)).map(([value]) => value);
}

const matchers = {
  strategies: matcherOf(words.strategies),
  property_types: matcherOf(words.property_types),
  themes: matcherOf(words.themes),
};

/** Returns what names say of strategies, property types and themes, each in the order of its list. */
export function subjectsOf(names: readonly string[]) {
  const folded = ` ${names.map(fold).join("   ")} `;
  const found = {
    strategies: matchers.strategies(folded),
    property_types: matchers.property_types(folded),
    themes: matchers.themes(folded),
  } as {
    strategies: (typeof strategies)[number][];
    property_types: (typeof propertyTypes)[number][];
    themes: string[];
  };
  // "Core plus" is no core, and what is cold or outdoor storage is no self storage.
  if (found.strategies.includes("core_plus")) drop(found.strategies, "core");
  if (/ (?:cold|outdoor) storage /.test(folded)) drop(found.property_types, "self_storage");
  if (found.property_types.includes("medical_office")) drop(found.property_types, "office");
  return found;
}

function drop<T>(list: T[], value: T): void {
  const at = list.indexOf(value);
  if (at >= 0) list.splice(at, 1);
}

/** Returns tags for what filings tick. */
export function tagsOf(filings: readonly FormD[]): string[] {
  const has = (code: string) => filings.some(({ exemptions }) => exemptions.includes(code));
  const any = (name: "isPooledTicked" | "isTenantInCommonTicked" | "isIndefinite") =>
    filings.some((filing) => filing[name]);
  const tags: readonly (readonly [string, boolean])[] = [
    ["reg_d_506b", has("06b")],
    ["reg_d_506c", has("06c")],
    ["section_3c5", has("3C.5")],
    ["pooled_fund", any("isPooledTicked")],
    ["tic", any("isTenantInCommonTicked")],
    ["dst", filings.some(({ issuers }) => / dst /.test(` ${fold(issuers[0]!.name)} `))],
    ["amended", filings.some(({ type }) => type === "D/A")],
    ["indefinite_offering", any("isIndefinite")],
    ["non_accredited_allowed", filings.some((filing) => filing.allowsNonAccredited)],
  ];
  return tags.filter(([, holds]) => holds).map(([tag]) => tag);
}

/** Returns the tag for the size of assets under management. */
export const sizeBand = (aumUsd: number): string =>
  words.sizes.findLast(({ fromUsd }) => aumUsd >= fromUsd)!.tag;
