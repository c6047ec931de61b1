/** Finds the GPs that satisfy a filter, and the parts of it that no GP satisfies. */
import { fold } from "#records/fold.ts";
import {
  addBit,
  addEvery,
  type Bitset,
  type Combination,
  isTouched,
  makeBitset,
} from "./bitset.ts";
import { type DatasetParts, type FacetName, facetNames } from "./dataset-parts.ts";
import { documentCount } from "./documents.ts";
import { valuesOf } from "./facet-index.ts";
import { positionOfId } from "./id-index.ts";
import { emptyUnion, makeUnion, openPositionLists } from "./lists.ts";
import { matchNames, openNames, rankCount } from "./match-names.ts";

/** Conditions on a GP. A record is found if one of its GPs satisfies all of them. */
export type GpFilter = { name?: string | undefined } & {
  [facet in FacetName]?: readonly string[] | undefined;
};

export const hasFacets = (filter: GpFilter): boolean =>
  facetNames.some((name) => (filter[name]?.length ?? 0) > 0);

/** A part of the filter that no GP satisfies. `folded` is empty if nothing in it can be searched. */
export interface Miss {
  parameter: "gp_name" | FacetName;
  value: string;
  folded: string;
}

/** GPs that satisfy a filter, valid until the next search. */
export interface FoundGps {
  all: Combination;
  /** GPs of each rank, the best rank first. */
  ranks: readonly Combination[];
  /** Parts of the filter that no GP satisfies. */
  misses: Miss[];
}

interface GpSearch {
  find(filter: GpFilter): FoundGps;
}

export function openGpSearch(parts: DatasetParts): GpSearch {
  const gpCount = documentCount(parts.documents.gp);
  const names = openNames(parts.names, gpCount);
  const facets = facetNames.map((name) => ({
    name,
    gpsOfValue: openPositionLists(parts.facets[name].gpsOfValue, gpCount),
    carriers: makeUnion(gpCount),
  }));
  const unions = Array.from({ length: rankCount }, () => makeUnion(gpCount));
  const every = makeBitset(gpCount);
  addEvery(every, gpCount);

  /** Returns the sets of GPs for each rank that any name has. */
  function findNamed(name: string): Bitset[][] {
    for (const union of unions) emptyUnion(union);
    const gp = positionOfId(parts.ids, name);
    const folded = gp === -1 ? fold(name) : "";
    if (gp !== -1) addBit(unions[0]!.own, gp);
    if (folded !== "") matchNames(names, folded, unions);
    return unions.map(({ sets }) => sets.filter(isTouched)).filter((sets) => sets.length > 0);
  }

  return {
    find(filter) {
      const misses: Miss[] = [];
      let ranked = [[every]];
      if (filter.name !== undefined) {
        ranked = findNamed(filter.name);
        if (ranked.length === 0)
          misses.push({ parameter: "gp_name", value: filter.name, folded: fold(filter.name) });
      }
      const each: Bitset[][] = [];
      for (const { name, gpsOfValue, carriers } of facets) {
        if (!isGiven(filter[name])) continue;
        emptyUnion(carriers);
        for (const value of readValues(parts, name, filter[name], misses))
          gpsOfValue.addTo(carriers, value);
        each.push(carriers.sets);
      }
      if (filter.name === undefined && each.length > 0) ranked = [each.pop()!];
      return {
        all: { some: ranked.flat(), each, but: [] },
        ranks: ranked.map((some, rank) => ({ some, each, but: ranked.slice(0, rank).flat() })),
        misses,
      };
    },
  };
}

const isGiven = (values: readonly string[] | undefined) =>
  values !== undefined && values.length > 0;

/** Returns the numbers of the requested values of a facet. Adds values that no GP carries to `misses`. */
export function readValues(
  parts: Pick<DatasetParts, "facets">,
  facet: FacetName,
  asked: readonly string[] = [],
  misses: Miss[],
): number[] {
  return asked.flatMap((value) => {
    const folded = fold(value);
    const found = valuesOf(parts.facets[facet], folded);
    if (found.length === 0) misses.push({ parameter: facet, value, folded });
    return [...found];
  });
}
