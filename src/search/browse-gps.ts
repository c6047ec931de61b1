/** GPs without a name in mind: by what they carry, the most recently active first, and what else the rest carries. */
import { fold } from "#records/fold.ts";
import { countBits, hasBit, pageOfBits, type Bitset } from "./bitset.ts";
import { openFacetCounter } from "./facet-values.ts";
import { openGpSearch } from "./gp-search.ts";
import { facetNames, type DatasetParts, type FacetName } from "./dataset-parts.ts";
import type { GpFilter } from "./gp-search.ts";
import type { Bounds, Selection } from "./read-model.ts";

type Facets = Pick<GpFilter, FacetName>;

const gpOrders = ["latest", "name"] as const;
/** By their latest signal, those without any last; or by name, as the operations order all GPs. */
type GpOrder = (typeof gpOrders)[number];

export interface GpBrowse {
  select(facets: Facets, order: GpOrder, bounds: Bounds): Selection;
  /** For each value how many GPs carry it, among those that satisfy the other facets. */
  count(facet: FacetName, values: readonly string[], facets: Facets): number[];
  /** Those that satisfy the filter; good until the next call. */
  find(facets: Facets): Bitset;
}

/** It keeps scratch sets between calls, so it serves one thread. */
export function openGpBrowse(parts: DatasetParts): GpBrowse {
  const gps = openGpSearch(parts);
  const gpCount = parts.documents.gp.ownLengths.length;
  const counters = Object.fromEntries(
    facetNames.map((name) => [name, openFacetCounter(parts.facets[name], gpCount)]),
  ) as Record<FacetName, ReturnType<typeof openFacetCounter>>;
  let byActivity: Uint32Array | undefined;
  return {
    select(facets, order, { limit, offset }) {
      const misses = gps.find(facets);
      const found = gps.sets[0]!;
      const positions: number[] = [];
      if (order === "name") pageOfBits(found, offset, limit, positions);
      else pageInOrder(found, (byActivity ??= orderByActivity(parts)), offset, limit, positions);
      return { total: countBits(found), positions, misses };
    },
    count(facet, values, facets) {
      gps.find({ ...facets, [facet]: undefined });
      return values.map((value) => counters[facet].count(fold(value), gps.sets[0]!));
    },
    find(facets) {
      gps.find(facets);
      return gps.sets[0]!;
    },
  };
}

/** Signals are numbered from the newest on, so the first of a GP says how recent it is. */
function orderByActivity({ recordsOfGp: { signal }, documents }: DatasetParts): Uint32Array {
  const { starts, items } = signal;
  const none = documents.signal.ownLengths.length;
  const first = (gp: number) => (starts[gp] === starts[gp + 1] ? none : items[starts[gp]!]!);
  const gps = Uint32Array.from({ length: starts.length - 1 }, (_, gp) => gp);
  return gps.sort((a, b) => first(a) - first(b) || a - b);
}

function pageInOrder(
  found: Bitset,
  order: Uint32Array,
  offset: number,
  limit: number,
  page: number[],
): void {
  let skip = offset;
  for (let i = 0; i < order.length && page.length < limit; i++)
    if (hasBit(found, order[i]!) && skip-- <= 0) page.push(order[i]!);
}
