/** Whether one GP satisfies a condition, and how well its names do. */
import type { CanonicalGp } from "#records/canonical.ts";
import { fold } from "./fold.ts";
import { marketSpellings } from "./markets.ts";

export const facets = ["tag", "theme", "market"] as const;
export type Facet = (typeof facets)[number];

/** Names as written: name, legal name, aliases. */
export function namesOf(gp: CanonicalGp): string[] {
  const legalName = typeof gp.legal_name === "string" ? [gp.legal_name] : [];
  return [gp.name, ...legalName, ...(gp.aliases ?? [])];
}

/** The best rank (0-4) of the names that satisfy every word; undefined where none does. */
export function rankOf(gp: CanonicalGp, folded: string): number | undefined {
  let best: number | undefined;
  for (const name of namesOf(gp).map(fold)) {
    if (!folded.split(" ").every((word) => standsIn(name, word))) continue;
    const rank = rankOfName(name, folded);
    if (best === undefined || rank < best) best = rank;
  }
  return best;
}

function standsIn(name: string, word: string): boolean {
  if (word === "") return false;
  const points = Array.from(word);
  const anywhere = points.length >= 4 || points.some(isOfUnspacedScript);
  return anywhere ? name.includes(word) : name.split(" ").some((one) => one.startsWith(word));
}

// By use, not by script alone: the long mark "ー" belongs to Hiragana and Katakana alike. Digits are not letters.
function isOfUnspacedScript(point: string): boolean {
  const scripts = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}]/u;
  return /\p{L}/u.test(point) && scripts.test(point);
}

function rankOfName(name: string, query: string): number {
  if (name === query) return 0;
  if (name.startsWith(query)) return 1;
  if (name.includes(` ${query}`)) return 2;
  return name.includes(query) ? 3 : 4;
}

/** Every spelling under which a GP answers to a tag, theme or market. */
export function spellingsCarried(gp: CanonicalGp, facet: Facet): string[] {
  if (facet === "tag")
    return [...(gp.tags ?? []), ...(gp.strategies ?? []), ...(gp.property_types ?? [])];
  if (facet === "theme") return gp.themes ?? [];
  return (gp.markets ?? []).flatMap(marketSpellings);
}

/** Whether the GP carries at least one of the values. */
export function carriesAny(gp: CanonicalGp, facet: Facet, values: readonly string[]): boolean {
  const carried = spellingsCarried(gp, facet).map(fold);
  return values.some((value) => fold(value) !== "" && carried.includes(fold(value)));
}
