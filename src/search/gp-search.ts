/** Finds the GPs that satisfy a filter, or their linked records, and the parts of the filter that no GP satisfies. */
import { fold } from "#records/fold.ts";
import { eachOf, type LinkedKind } from "#records/kinds.ts";
import {
  addBit,
  addBits,
  type Bitset,
  type Combination,
  everyBit,
  forEachBit,
  isTouched,
  keepCount,
  makeBitset,
} from "./bitset.ts";
import { type DatasetParts, documentCount, type FacetName, facetNames } from "./dataset-parts.ts";
import { askedValues, type Miss, openValueSets, type ValueSets } from "./facet-index.ts";
import { emptyUnion, isLong, type Lists, makeUnion } from "./lists.ts";
import { forEachWord, matchNames, matchWord, openNames, rankCount } from "./match-names.ts";
import { positionOfId } from "./name-index.ts";

/** Conditions on a GP. A record is found if one of its GPs satisfies all of them. */
export type GpFilter = { gp_name?: string | undefined } & {
  [facet in FacetName]?: readonly string[] | undefined;
};

/** Records that satisfy a filter. The sets are valid until the next search. */
export interface Found {
  all: Combination;
  /** The same records in parts, in the usual order. GPs have one part for each rank, the best rank first. */
  ranks: readonly Combination[];
  /** Parts of the filter that no record satisfies. */
  misses: Miss[];
}

interface GpSearch {
  facets: Readonly<Record<FacetName, ValueSets>>;
  find(filter: GpFilter): Found;
}

/** Returns the miss for a name that no GP has. */
const missedName = (value: string, folded: string): Miss => ({
  kind: "gp",
  parameter: "gp_name",
  value,
  folded,
});

export function openGpSearch(parts: DatasetParts): GpSearch {
  const gpCount = documentCount(parts.documents.gp);
  const names = openNames(parts.names, gpCount);
  const facets = eachOf(facetNames, (name) =>
    openValueSets(parts.facets[name], { kind: "gp", parameter: name }, gpCount),
  );
  const unions = Array.from({ length: rankCount }, () => makeUnion(gpCount));
  const every = everyBit(gpCount);

  /** Returns sets of the GPs that match a name, for each rank that has any. */
  function findNamed(name: string): Bitset[][] {
    for (const union of unions) emptyUnion(union);
    const gp = positionOfId(parts.ids, name);
    const folded = gp === -1 ? fold(name) : "";
    if (gp !== -1) addBit(unions[0]!.own, gp);
    if (folded !== "") matchNames(names, folded, unions);
    return unions.map(({ sets }) => sets.filter(isTouched)).filter((sets) => sets.length > 0);
  }

  return {
    facets,
    find(filter) {
      const misses: Miss[] = [];
      let ranked: (readonly Bitset[])[] = [[every]];
      const { gp_name: name } = filter;
      if (name !== undefined) {
        ranked = findNamed(name);
        if (ranked.length === 0) misses.push(missedName(name, fold(name)));
      }
      const each: (readonly Bitset[])[] = [];
      for (const facet of facetNames) {
        const { [facet]: asked = [] } = filter;
        if (asked.length > 0) each.push(facets[facet].find(asked, misses));
      }
      if (name === undefined && each.length > 0) ranked = [each.pop()!];
      return {
        all: { some: ranked.flat(), each, but: [] },
        ranks: ranked.map((some, rank) => ({ some, each, but: ranked.slice(0, rank).flat() })),
        misses,
      };
    },
  };
}

/** Opens the search for records of a kind by conditions on their GPs. */
export function openLinkedSearch(parts: DatasetParts, gps: GpSearch, kind: LinkedKind) {
  const gpCount = documentCount(parts.documents.gp);
  const count = documentCount(parts.documents[kind]);
  const { starts, items } = parts.recordsOfGp[kind];
  const union = makeUnion(count);
  const follow = (gp: number, into: Bitset) => addBits(into, items, starts[gp]!, starts[gp + 1]!);

  /**
   * Opens the records of all GPs with a word or a value. If many GPs have it, their records are kept as a set from the
   * first use on. A GP has about a dozen words and values, so a few hundred sets are kept.
   */
  function openSets(lists: readonly Lists[]) {
    const sets = new Map<number, Bitset>();
    const followAll = (number: number, into: Bitset) => {
      for (const list of lists)
        for (let i = list.starts[number]!; i < list.starts[number + 1]!; i++)
          follow(list.items[i]!, into);
    };
    const makeSet = (number: number) => {
      const set = makeBitset(count);
      followAll(number, set);
      keepCount(set);
      sets.set(number, set);
      return set;
    };
    return {
      addToUnion(number: number): void {
        let length = 0;
        for (const list of lists) length += list.starts[number + 1]! - list.starts[number]!;
        if (isLong(length, gpCount)) union.sets.push(sets.get(number) ?? makeSet(number));
        else followAll(number, union.own);
      },
    };
  }

  const { first, later } = parts.names.gpsOfWord;
  const ofWord = openSets([first, later]);
  const ofValue = eachOf(facetNames, (name) => openSets([parts.facets[name].gpsOfValue]));

  return {
    /** Finds the records for a filter, which has a name or a facet. */
    find(filter: GpFilter): Found {
      const { gp_name: name } = filter;
      const folded = name === undefined ? "" : fold(name);
      const facets = facetNames.filter((facet) => (filter[facet] ?? []).length > 0);
      const [facet] = facets;
      const misses: Miss[] = [];
      emptyUnion(union);
      if (name === undefined && facets.length === 1) {
        const missed = { kind: "gp", parameter: facet! } as const;
        const values = askedValues(parts.facets[facet!], missed, filter[facet!]!, misses);
        for (const value of values) ofValue[facet!].addToUnion(value);
      } else if (facet === undefined && folded !== "" && !folded.includes(" ")) {
        // Only a single word is looked up like a value: several must be in the same name, and a GP's id folds to two.
        const match = matchWord(parts.names, folded);
        forEachWord(match, ofWord.addToUnion);
        if (match.gpCount === 0) misses.push(missedName(name!, folded));
      } else {
        // All parts must hold for the same GP of a record.
        const found = gps.find(filter);
        forEachBit(found.all, (gp) => follow(gp, union.own));
        misses.push(...found.misses);
      }
      const all = { some: union.sets.filter(isTouched), each: [], but: [] };
      return { all, ranks: [all], misses };
    },
  };
}
