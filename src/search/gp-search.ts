/** Finds the GPs that satisfy a filter, and the names and values in the filter that match nothing. */
import { fold } from "#records/fold.ts";
import { eachOf } from "#records/kinds.ts";
import { type Bitset, type Combination, everyBit } from "./bitset.ts";
import { type DatasetParts, documentCount, type FacetName, facetNames } from "./dataset-parts.ts";
import { type Miss, openValueSets } from "./facet-index.ts";
import { openNameSearch } from "./match-names.ts";
import { positionOfId } from "./name-index.ts";

/** Conditions on a GP. A record is found if one of its GPs satisfies all of them. */
export type GpFilter = { gp_name?: string | undefined } & {
  [facet in FacetName]?: readonly string[] | undefined;
};

/** Records that satisfy a filter. The sets are valid until the next search. */
export interface Found {
  all: Combination;
  /** Disjoint parts of `all`, in the order of results: GPs found by name have a part for each rank, the best first. */
  ranks: readonly Combination[];
  /** Names, values and ids in the filter that match nothing. Ranges are never listed. */
  misses: Miss[];
}

export type GpSearch = ReturnType<typeof openGpSearch>;

export const missedName = (value: string, folded: string): Miss => ({
  kind: "gp",
  parameter: "gp_name",
  value,
  folded,
});

/** Makes `all` and `ranks` of a `Found`. @param ranked sets of each rank, the best first. @param each as in `all`. */
export const inRanks = (
  ranked: readonly (readonly Bitset[])[],
  each: Combination["each"] = [],
): Pick<Found, "all" | "ranks"> => {
  const sets: Bitset[] = [];
  const ranks = ranked.map((some) => {
    const but = sets.slice();
    sets.push(...some);
    return { some, each, but };
  });
  return { all: { some: sets, each, but: [] }, ranks };
};

export function openGpSearch(parts: DatasetParts) {
  const gpCount = documentCount(parts.documents.gp);
  const findNamed = openNameSearch(parts.names, gpCount);
  const facets = eachOf(facetNames, (name) =>
    openValueSets(parts.facets[name], { kind: "gp", parameter: name }, gpCount),
  );
  const every = everyBit(gpCount);
  return {
    facets,
    find(filter: GpFilter): Found {
      const misses: Miss[] = [];
      let ranked: readonly (readonly Bitset[])[] = [[every]];
      const { gp_name: name } = filter;
      if (name !== undefined) {
        const gp = positionOfId(parts.ids, name);
        ranked = findNamed(gp === -1 ? fold(name) : "", gp);
        if (ranked.length === 0) misses.push(missedName(name, fold(name)));
      }
      const each: (readonly Bitset[])[] = [];
      for (const facet of facetNames) {
        const { [facet]: asked = [] } = filter;
        if (asked.length > 0) each.push(facets[facet].find(asked, misses));
      }
      if (name === undefined && each.length > 0) ranked = [each.pop()!];
      return { ...inRanks(ranked, each), misses };
    },
  };
}
