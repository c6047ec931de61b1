/** What the four reads must answer, worked out the slow and plain way, for comparing the fast way with it. */
import type { CanonicalGp, CanonicalRecord } from "#records/canonical.ts";
import type { RecordKind } from "#records/kinds.ts";
import { fold } from "./reference/fold.ts";
import { hint, hintsOnName, hintsOnValues, type ReferenceHint } from "./reference/hints.ts";
import {
  embeddedIn,
  embeddedMax,
  inOrder,
  isLinked,
  type IdOf,
  type LinkedRecord,
  type ReferenceEmbedded,
} from "./reference/linked.ts";
import { carriesAny, facets, rankOf } from "./reference/matching.ts";
import { sortedBy } from "./reference/order.ts";

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
  /** One for each id of the page; only on `fetch-gp`. */
  embedded?: ReferenceEmbedded[];
  hints: ReferenceHint[];
}

/** The public id under which a record of a source is served. */
export type PublicIdOf = (kind: RecordKind, sourceId: string) => string;
/** The public ids a GP had before, by its source id. */
export type FormerIdsOf = (gpSourceId: string) => string[];

export const kindOf = {
  "fetch-gp": "gp",
  "fetch-principals": "principal",
  "fetch-signals": "signal",
  "fetch-projects": "project",
} as const;

/** @param records of one source, ids unique within their kind; a link to a GP that is not among them counts for nothing. */
export function referenceAnswer(
  records: readonly CanonicalRecord[],
  query: ReferenceQuery,
  publicIdOf: PublicIdOf,
  formerIdsOf: FormerIdsOf,
): ReferenceAnswer {
  const idOf: IdOf = (record) => publicIdOf(record.record, record.id);
  const gps = sortedBy(records.filter(isGp), (gp) => [fold(gp.name), idOf(gp)]);
  const linked = records.filter((record) => !isGp(record));
  const named = gpWithId(query.gp_name, gps, idOf, formerIdsOf);
  const ranks = ranksOf(gps, query, named);
  const kind = kindOf[query.operation];

  const found =
    kind === "gp"
      ? sortedBy([...ranks.keys()], (gp) => [ranks.get(gp) ?? 0, fold(gp.name), idOf(gp)])
      : inOrder(
          linked.filter((record) => record.record === kind && isReturned(record, query, ranks)),
          idOf,
        );
  const page = found.slice(query.offset, query.offset + query.limit);
  const embedded = page.filter(isGp).map((gp) => embeddedIn(gp, linked, idOf));

  const hints: ReferenceHint[] = [];
  if (query.gp_name !== undefined && !named) hints.push(...hintsOnName(query.gp_name, gps));
  for (const facet of facets) hints.push(...hintsOnValues(facet, query[facet] ?? [], gps));
  if (found.length > 0 && query.offset >= found.length) hints.push(hint("past_the_end", "offset"));
  if (embedded.some((one) => Math.max(one.principals_total, one.signals_total) > embeddedMax))
    hints.push(hint("embedded_list_cut", null));
  return { total: found.length, ids: page.map(idOf), ...(kind === "gp" && { embedded }), hints };
}

function isGp(record: CanonicalRecord): record is CanonicalGp {
  return record.record === "gp";
}

function gpWithId(
  gpName: string | undefined,
  gps: readonly CanonicalGp[],
  idOf: IdOf,
  formerIdsOf: FormerIdsOf,
): CanonicalGp | undefined {
  if (gpName === undefined) return undefined;
  const wanted = gpName.normalize("NFC").trim();
  return (
    gps.find((gp) => idOf(gp) === wanted) ?? gps.find((gp) => formerIdsOf(gp.id).includes(wanted))
  );
}

/** The GPs that satisfy all of the query, each with its rank; all the same where there is nothing to rank by. */
function ranksOf(
  gps: readonly CanonicalGp[],
  query: ReferenceQuery,
  named: CanonicalGp | undefined,
): Map<CanonicalGp, number> {
  const ranks = new Map<CanonicalGp, number>();
  for (const gp of named ? [named] : gps) {
    const rank = named || query.gp_name === undefined ? 0 : rankOf(gp, fold(query.gp_name));
    const carriesAll = facets.every((facet) => {
      const values = query[facet] ?? [];
      return values.length === 0 || carriesAny(gp, facet, values);
    });
    if (rank !== undefined && carriesAll) ranks.set(gp, rank);
  }
  return ranks;
}

/** A query without a condition returns the records of no GP too. */
function isReturned(
  record: LinkedRecord,
  query: ReferenceQuery,
  ranks: ReadonlyMap<CanonicalGp, number>,
): boolean {
  const isUnconditional =
    query.gp_name === undefined && facets.every((facet) => (query[facet] ?? []).length === 0);
  return isUnconditional || [...ranks.keys()].some((gp) => isLinked(record, gp));
}
