/** Builds the index of a generation: once from the written records, and again from those read back. */
import { fold } from "#records/fold.ts";
import {
  type DatasetIndex,
  type FacetName,
  facetNames,
  type LinkedKind,
  linkedKinds,
} from "#search/dataset-parts.ts";
import { indexFacet } from "#search/facet-index.ts";
import { indexIds } from "#search/id-index.ts";
import { indexSuggestions } from "#search/index-suggestions.ts";
import { openNumbers, packLists } from "#search/lists.ts";
import { spellingsOfMarket } from "#search/market-spellings.ts";
import { indexNames } from "#search/name-index.ts";
import { eachOnce } from "./draft-record.ts";

/** A document as served, or its own part. */
export type Body = Readonly<Record<string, unknown>>;

/** Builder of an index, which takes each kind in display order. */
export interface Indexer {
  addGp(id: string, formerIds: readonly string[], gp: Body): void;
  /** Adds a link. @param gp position of a GP that the record belongs to. */
  addLink(kind: LinkedKind, record: number, gp: number): void;
  /** Returns the index of everything added. */
  index(documents: DatasetIndex["documents"]): DatasetIndex;
}

export function openIndexer(): Indexer {
  const names = { gps: openNumbers(), shown: [] as string[], folded: [] as string[] };
  const facets = eachOf(facetNames, (facet) => openFacet(facet));
  const links = eachOf(linkedKinds, () => ({ gps: openNumbers(), records: openNumbers() }));
  const ids: { id: string; gp: number }[] = [];
  let gpCount = 0;
  return {
    addGp(id, formerIds, gp) {
      const position = gpCount++;
      for (const one of [id, ...formerIds]) ids.push({ id: one, gp: position });
      for (const name of namesOf(gp)) {
        names.gps.add(position);
        names.shown.push(name);
        names.folded.push(fold(name));
      }
      const values = valuesOf(gp);
      for (const facet of facetNames)
        for (const value of values[facet]) facets[facet].add(value, position);
    },
    addLink(kind, record, gp) {
      links[kind].gps.add(gp);
      links[kind].records.add(record);
    },
    index: (documents) => ({
      documents,
      names: indexNames(names.folded, names.gps.take(), gpCount),
      nameSuggestions: indexSuggestions(eachNameOnce(names)),
      facets: eachOf(facetNames, (facet) => facets[facet].index()),
      ids: indexIds(ids),
      recordsOfGp: eachOf(linkedKinds, (kind) => {
        const { gps, records } = links[kind];
        return packLists(gpCount, gps.take(), records.take());
      }),
    }),
  };
}

export const eachOf = <K extends string, V>(keys: readonly K[], make: (key: K) => V) =>
  Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, V>;

/** Returns name, legal name and aliases of a GP, each once, in this order. */
const namesOf = (gp: Body): readonly string[] =>
  eachOnce([
    gp["name"] as string,
    ...(gp["legal_name"] === null ? [] : [gp["legal_name"] as string]),
    ...listOf(gp, "aliases"),
  ]);

/** Returns the values of each facet of a GP, each once. */
const valuesOf = (gp: Body): Readonly<Record<FacetName, readonly string[]>> => ({
  tag: eachOnce([
    ...listOf(gp, "tags"),
    ...listOf(gp, "strategies"),
    ...listOf(gp, "property_types"),
  ]),
  theme: listOf(gp, "themes"),
  market: listOf(gp, "markets"),
});

const listOf = (gp: Body, member: string) => gp[member] as readonly string[];

function openFacet(facet: FacetName) {
  const carriers = { values: [] as string[], gps: [] as number[] };
  const different = new Set<string>();
  const spellingsOf = (value: string) =>
    facet === "market" ? spellingsOfMarket(value) : [{ folded: fold(value), shown: value }];
  return {
    add(value: string, gp: number) {
      carriers.values.push(value);
      carriers.gps.push(gp);
      different.add(value);
    },
    index() {
      const spellings = [...different].flatMap((value) =>
        spellingsOf(value).map((spelling) => ({ value, ...spelling })),
      );
      return indexFacet(spellings, carriers);
    },
  };
}

function eachNameOnce({ shown, folded }: { shown: string[]; folded: string[] }) {
  const once = new Map<string, string>();
  shown.forEach((name, i) => {
    if (!once.has(name)) once.set(name, folded[i]!);
  });
  return Array.from(once, ([name, ofName]) => ({ shown: name, folded: ofName }));
}
