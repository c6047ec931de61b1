/** Builds the index of a generation's records, or of the records that a step removed. */
import { fold } from "#records/fold.ts";
import { filterableGp, type Gp } from "#records/gp.ts";
import { eachOf, type LinkedKind, linkedKinds } from "#records/kinds.ts";
import { type DatasetIndex, facetNames } from "#search/dataset-parts.ts";
import { openFacetIndexer } from "#search/facet-index.ts";
import { indexSuggestions } from "#search/suggestions.ts";
import { openLists, openNumbers } from "#search/lists.ts";
import { indexIds, indexNames } from "#search/name-index.ts";
import { eachOnce } from "./draft-record.ts";

/** A document as served, or a record's own part. */
export type Body = Readonly<Record<string, unknown>>;

export type Indexer = ReturnType<typeof openIndexer>;

/** Opens an index builder. Records of each kind are added in display order. */
export function openIndexer() {
  const names = { gps: openNumbers(), shown: [] as string[], folded: [] as string[] };
  const facets = eachOf(facetNames, (facet) =>
    openFacetIndexer(filterableGp[facet].as === "market"),
  );
  const links = eachOf(linkedKinds, openLists);
  const ids: { id: string; position: number }[] = [];
  let gpCount = 0;
  return {
    addGp(id: string, formerIds: readonly string[], gp: Body): void {
      const position = gpCount++;
      for (const one of [id, ...formerIds]) ids.push({ id: one, position });
      for (const name of namesOf(gp)) {
        names.gps.add(position);
        names.shown.push(name);
        names.folded.push(fold(name));
      }
      for (const facet of facetNames)
        facets[facet].add(filterableGp[facet].of(gp as unknown as Gp) as string[], position);
    },
    /** Adds a former id of a principal. The principal's document does not show it. */
    addFormerId: (id: string, position: number) => ids.push({ id, position }),
    /** Adds a link from a record to a GP that it belongs to, both by position. */
    addLink: (kind: LinkedKind, record: number, gp: number) => links[kind].add(gp, record),
    index: (documents: DatasetIndex["documents"]): DatasetIndex => ({
      documents,
      names: indexNames(names.folded, names.gps.take(), gpCount),
      nameSuggestions: indexSuggestions(eachNameOnce(names)),
      facets: eachOf(facetNames, (facet) => facets[facet].index()),
      ids: indexIds(ids),
      recordsOfGp: eachOf(linkedKinds, (kind) => links[kind].take(gpCount)),
    }),
  };
}

/** Returns the name, legal name and aliases of a GP in this order, each once. */
const namesOf = (gp: Body): readonly string[] =>
  eachOnce([
    gp["name"] as string,
    ...(gp["legal_name"] === null ? [] : [gp["legal_name"] as string]),
    ...(gp["aliases"] as readonly string[]),
  ]);

function eachNameOnce({ shown, folded }: { shown: string[]; folded: string[] }) {
  const once = new Map<string, string>();
  shown.forEach((name, i) => once.set(name, folded[i]!));
  return Array.from(once, ([name, ofName]) => ({ shown: name, folded: ofName }));
}
