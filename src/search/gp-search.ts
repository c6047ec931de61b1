/** Finds the GPs that satisfy a filter, and tells which parts of it none does. */
import { fold } from "#records/fold.ts";
import {
  addBit,
  addEvery,
  type Bitset,
  clear,
  keepCommon,
  keepUnseen,
  makeBitset,
} from "./bitset.ts";
import { type DatasetParts, type FacetName, facetNames } from "./dataset-parts.ts";
import { documentCount } from "./documents.ts";
import { addCarriers, openFacet } from "./facet-index.ts";
import { positionOfId } from "./id-index.ts";
import { matchNames, openNames, rankCount } from "./match-names.ts";

/** What is asked of a GP; a record answers if one of its GPs satisfies all of it. */
export type GpFilter = { name?: string | undefined } & {
  [facet in FacetName]?: readonly string[] | undefined;
};

export const hasFacets = (filter: GpFilter): boolean =>
  facetNames.some((name) => (filter[name]?.length ?? 0) > 0);

/** A part of the filter that no GP satisfies; `folded` is empty where nothing of it can be searched. */
export interface Miss {
  parameter: "gp_name" | FacetName;
  value: string;
  folded: string;
}

interface GpSearch {
  /** @returns the parts of the filter that no GP satisfies; the GPs that satisfy all of it are left in `sets`. */
  find(filter: GpFilter): Miss[];
  /** A set for each rank, best first; a GP may stand in several until `keepBest`. */
  readonly sets: readonly Bitset[];
  /** Leaves every GP in the set of its best rank alone. */
  keepBest(): void;
}

export function openGpSearch(parts: DatasetParts): GpSearch {
  const gpCount = documentCount(parts.documents.gp);
  const names = openNames(parts.names, gpCount);
  const facets = facetNames.map((name) => ({ name, ...openFacet(parts.facets[name], gpCount) }));
  const sets = Array.from({ length: rankCount }, () => makeBitset(gpCount));
  const [carriers, seen] = [makeBitset(gpCount), makeBitset(gpCount)];

  function findNamed(name: string): Miss[] {
    const gp = positionOfId(parts.ids, name);
    if (gp !== -1) {
      addBit(sets[0]!, gp);
      return [];
    }
    const folded = fold(name);
    if (folded !== "") matchNames(names, folded, sets);
    const isFound = sets.some(({ touched }) => touched.includes(1));
    return isFound ? [] : [{ parameter: "gp_name", value: name, folded }];
  }

  return {
    sets,
    find(filter) {
      for (const set of sets) clear(set);
      if (filter.name === undefined) addEvery(sets[0]!, gpCount);
      const misses = filter.name === undefined ? [] : findNamed(filter.name);
      for (const facet of facets) {
        const values = filter[facet.name];
        if (values === undefined || values.length === 0) continue;
        clear(carriers);
        for (const value of values) {
          const folded = fold(value);
          const isCarried = folded !== "" && addCarriers(facet, folded, carriers);
          if (!isCarried) misses.push({ parameter: facet.name, value, folded });
        }
        for (const set of sets) keepCommon(set, carriers);
      }
      return misses;
    },
    keepBest() {
      clear(seen);
      for (const set of sets) keepUnseen(set, seen);
    },
  };
}
