/** What the four reads must answer, worked out the slow and plain way, for comparing the fast way with it. */
import type { CanonicalRecord } from "#records/canonical.ts";
import type { RecordKind } from "#records/kinds.ts";
import {
  type Asked,
  asServed,
  type PublicIdOf,
  referenceQuery,
  type Served,
  textsOf,
} from "./reference/queries.ts";
import { compareBytes, fold, namesOf, rankOf } from "./reference/texts.ts";

export type { PublicIdOf } from "./reference/queries.ts";
export { fold } from "./reference/texts.ts";

/** A query whose parameters have been read and found valid. */
export interface ReferenceQuery {
  operation: "fetch-gp" | "fetch-principals" | "fetch-signals" | "fetch-projects";
  gp_name?: string;
  tag?: string[];
  theme?: string[];
  market?: string[];
  limit: number;
  offset: number;
}

export interface ReferenceAnswer {
  total: number;
  /** Public ids of the page, in order. */
  ids: string[];
  /** What each GP of the page holds inside itself, as public ids; only on `fetch-gp`. */
  embedded?: {
    principals: string[];
    principals_total: number;
    signals: string[];
    signals_total: number;
  }[];
  hints: ReferenceHint[];
}

export const kindOf = {
  "fetch-gp": "gp",
  "fetch-principals": "principal",
  "fetch-signals": "signal",
  "fetch-projects": "project",
} as const;

/**
 * @param records of one source, ids unique within their kind; a link to a GP that is not among them counts for nothing.
 * @param formerIdsOf the public ids a GP had before.
 */
export function referenceAnswer(
  records: readonly CanonicalRecord[],
  query: ReferenceQuery,
  publicIdOf: PublicIdOf,
  formerIdsOf: (gpSourceId: string) => string[],
): ReferenceAnswer {
  const served = asServed(records, publicIdOf);
  const find = (kind: RecordKind, asked: Asked) => referenceQuery(served, kind, asked, "");
  const { gp_name, limit, offset } = query;
  const named = gpWithId(gp_name, records, publicIdOf, formerIdsOf);
  const kind = kindOf[query.operation];
  const asked: Record<string, readonly string[]> = {};
  if (gp_name !== undefined) asked["gp_name"] = [named ?? gp_name];
  for (const facet of facets) if (query[facet] !== undefined) asked[facet] = query[facet];
  const found = find(kind, asked);
  const ids = found.slice(offset, offset + limit);
  const embedded = (kind === "gp" ? ids : []).map((id) => {
    const principals = find("principal", { gp_id: [id] });
    const signals = find("signal", { gp_id: [id] });
    return {
      principals: principals.slice(0, embeddedMax),
      principals_total: principals.length,
      signals: signals.slice(0, embeddedMax),
      signals_total: signals.length,
    };
  });

  const gps = find("gp", {}).map((id) => served.gp.find((gp) => gp.id === id)!);
  const hints: ReferenceHint[] = [];
  if (gp_name !== undefined && named === undefined) hints.push(...hintsOnName(gp_name, gps));
  for (const facet of facets) hints.push(...hintsOnValues(facet, query[facet] ?? [], gps));
  if (found.length > 0 && offset >= found.length) hints.push(hint("past_the_end", "offset"));
  if (embedded.some((one) => Math.max(one.principals_total, one.signals_total) > embeddedMax))
    hints.push(hint("embedded_list_cut", null));
  return { total: found.length, ids, ...(kind === "gp" && { embedded }), hints };
}

/** The public id of the GP that has it, or had it before. */
function gpWithId(
  gpName: string | undefined,
  records: readonly CanonicalRecord[],
  publicIdOf: PublicIdOf,
  formerIdsOf: (gpSourceId: string) => string[],
): string | undefined {
  if (gpName === undefined) return undefined;
  const wanted = gpName.normalize("NFC").trim();
  const gps = records.filter(({ record }) => record === "gp");
  const idsOf = gps.map(({ id }) => [publicIdOf("gp", id), ...formerIdsOf(id)] as const);
  const found = idsOf.find(([id]) => id === wanted) ?? idsOf.find((ids) => ids.includes(wanted));
  return found?.[0];
}

/** Of one GP. */
const embeddedMax = 100;
export const facets = ["tag", "theme", "market"] as const;
export type Facet = (typeof facets)[number];

export interface ReferenceHint {
  code: string;
  parameter: string | null;
  suggestions: string[];
}

/** @param gps all GPs in display order. */
function hintsOnName(gpName: string, gps: readonly Served[]): ReferenceHint[] {
  const folded = fold(gpName);
  if (folded === "") return [hint("no_searchable_character", "gp_name")];
  if (gps.some((gp) => rankOf(gp, folded) !== undefined)) return [];
  const names = new Set(gps.flatMap(namesOf));
  return [hint("no_match", "gp_name", suggestions(folded, [...names]))];
}

/** One hint for each value that finds no GP, in the order given. */
function hintsOnValues(
  facet: Facet,
  values: readonly string[],
  gps: readonly Served[],
): ReferenceHint[] {
  const hints: ReferenceHint[] = [];
  const carried = new Set(gps.flatMap((gp) => textsOf(gp, "gp", facet)).map(fold));
  for (const value of values) {
    if (fold(value) === "") hints.push(hint("no_searchable_character", facet));
    else if (!carried.has(fold(value)))
      hints.push(hint("unknown_value", facet, suggestions(fold(value), shownValues(facet, gps))));
  }
  return hints;
}

function hint(code: string, parameter: string | null, found: string[] = []): ReferenceHint {
  return { code, parameter, suggestions: found };
}

/** Each folded form once, as the spelling that is first by bytes; in order of the folded form. */
function shownValues(facet: Facet, gps: readonly Served[]): string[] {
  const shown = new Map<string, string>();
  for (const spelling of gps.flatMap((gp) => textsOf(gp, "gp", facet))) {
    const before = shown.get(fold(spelling));
    if (before === undefined || compareBytes(spelling, before) < 0)
      shown.set(fold(spelling), spelling);
  }
  return [...shown].toSorted(([a], [b]) => compareBytes(a, b)).map(([, spelling]) => spelling);
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
