/** What an answer says about a query that found less than was perhaps meant. */
import type { CanonicalGp } from "#records/canonical.ts";
import { fold } from "./fold.ts";
import { carriesAny, namesOf, rankOf, spellingsCarried, type Facet } from "./matching.ts";
import { compareBytes, sortedBy } from "./order.ts";

export interface ReferenceHint {
  code: string;
  parameter: string | null;
  suggestions: string[];
}

/** @param gps all GPs in display order. */
export function hintsOnName(gpName: string, gps: readonly CanonicalGp[]): ReferenceHint[] {
  const folded = fold(gpName);
  if (folded === "") return [hint("no_searchable_character", "gp_name")];
  if (gps.some((gp) => rankOf(gp, folded) !== undefined)) return [];
  const names = new Set(gps.flatMap(namesOf));
  return [hint("no_match", "gp_name", suggestions(folded, [...names]))];
}

/** One hint for each value that finds no GP, in the order given. */
export function hintsOnValues(
  facet: Facet,
  values: readonly string[],
  gps: readonly CanonicalGp[],
): ReferenceHint[] {
  const hints: ReferenceHint[] = [];
  for (const value of values) {
    if (fold(value) === "") hints.push(hint("no_searchable_character", facet));
    else if (!gps.some((gp) => carriesAny(gp, facet, [value])))
      hints.push(hint("unknown_value", facet, suggestions(fold(value), shownValues(facet, gps))));
  }
  return hints;
}

export function hint(code: string, parameter: string | null, found: string[] = []): ReferenceHint {
  return { code, parameter, suggestions: found };
}

/** Each folded form once, as the spelling that is first by bytes; in order of the folded form. */
function shownValues(facet: Facet, gps: readonly CanonicalGp[]): string[] {
  const shown = new Map<string, string>();
  for (const spelling of gps.flatMap((gp) => spellingsCarried(gp, facet))) {
    const before = shown.get(fold(spelling));
    if (before === undefined || compareBytes(spelling, before) < 0)
      shown.set(fold(spelling), spelling);
  }
  return sortedBy([...shown], ([folded]) => [folded]).map(([, spelling]) => spelling);
}

/** The three candidates most like the folded text; equally like ones keep their order. */
function suggestions(folded: string, candidates: readonly string[]): string[] {
  const wanted = trigrams(folded);
  return candidates
    .map((shown) => ({ shown, likeness: dice(wanted, trigrams(fold(shown))) }))
    .filter(({ likeness }) => likeness >= 0.4)
    .sort((one, other) => other.likeness - one.likeness)
    .slice(0, 3)
    .map(({ shown }) => shown);
}

function trigrams(folded: string): Set<string> {
  const points = Array.from(` ${folded} `);
  const found = new Set<string>();
  for (let end = 3; end <= points.length; end += 1) found.add(points.slice(end - 3, end).join(""));
  return found;
}

/** Twice the common part over the sum of the parts, 0-1 (Dice 1945). */
function dice(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  return (2 * [...one].filter((part) => other.has(part)).length) / (one.size + other.size);
}
