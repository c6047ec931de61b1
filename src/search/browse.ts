/** Browses a dataset: the values that GPs carry, the GPs by activity, and the signals. */
import { fold } from "#records/fold.ts";
import { type Bitset, countBits, hasBit, makeBitset, pageOfBits, storeBits } from "./bitset.ts";
import { openSignalBrowse, type SignalBrowse } from "./browse-signals.ts";
import { type DatasetParts, type FacetName, facetNames } from "./dataset-parts.ts";
import { type FacetIndex, valuesOf } from "./facet-index.ts";
import { longestSpellings } from "./facet-values.ts";
import { type FoundGps, type GpFilter, openGpSearch } from "./gp-search.ts";
import { emptyUnion, makeUnion, openPositionLists } from "./lists.ts";
import { placeOfMarket, spellingsOfMarket } from "./market-spellings.ts";
import type { Bounds, Selection } from "./read-model.ts";

export interface Browse {
  gps: GpBrowse;
  signals: SignalBrowse;
  /** Values that GPs carry, each in the spelling that finds it. */
  values: Readonly<Record<FacetName, readonly string[]>>;
  /** Returns the name that people use for a market, by its title. */
  nameOfMarket(title: string): string;
}

const opened = new WeakMap<DatasetParts, Browse>();

/** Opens browsing when a dataset is first browsed, and keeps it as long as the dataset. */
export function browse(parts: DatasetParts): Browse {
  let known = opened.get(parts);
  if (known === undefined) opened.set(parts, (known = openBrowse(parts)));
  return known;
}

function openBrowse(parts: DatasetParts): Browse {
  const signals = openSignalBrowse(parts);
  const titles = longestSpellings(parts.facets.market);
  const names = nameMarkets([...titles, ...signals.markets]);
  const nameOfMarket = (title: string) => names.get(fold(title)) ?? title;
  return {
    gps: openGpBrowse(parts),
    signals,
    values: {
      ...forEachFacet((name) => longestSpellings(parts.facets[name])),
      market: titles.map(nameOfMarket),
    },
    nameOfMarket,
  };
}

const forEachFacet = <T>(make: (name: FacetName) => T) =>
  Object.fromEntries(facetNames.map((name) => [name, make(name)])) as Record<FacetName, T>;

/**
 * Names markets by city and state, if only one market has that place.
 * @param titles all of them; among titles that fold to the same, the first gives the name.
 * @returns folded title → name of the market.
 */
function nameMarkets(titles: Iterable<string>): Map<string, string> {
  const titleOf = new Map<string, string>();
  for (const title of titles) if (!titleOf.has(fold(title))) titleOf.set(fold(title), title);
  const marketsOf = new Map<string, number>();
  for (const title of titleOf.values())
    for (const { folded } of spellingsOfMarket(title))
      marketsOf.set(folded, (marketsOf.get(folded) ?? 0) + 1);
  return new Map(
    Array.from(titleOf, ([folded, title]) => {
      const place = placeOfMarket(title);
      return [folded, marketsOf.get(fold(place)) === 1 ? place : title];
    }),
  );
}

const gpOrders = ["latest", "name"] as const;
/** Order of GPs: by their latest signal, with those without any last; or by name, the order of the operations. */
type GpOrder = (typeof gpOrders)[number];

/** GPs by name and by values that they carry, with the other values of those GPs. */
interface GpBrowse {
  select(filter: GpFilter, order: GpOrder, bounds: Bounds): Selection;
  /** Counts the GPs that carry each value, among those that satisfy the rest of the filter. */
  count(facet: FacetName, values: readonly string[], filter: GpFilter): number[];
  /** Finds the GPs that satisfy the filter. The next call reuses the set. */
  find(filter: GpFilter): Bitset;
}

/** Opens browsing of GPs. It keeps scratch sets between calls, so it serves one thread. */
function openGpBrowse(parts: DatasetParts): GpBrowse {
  const gps = openGpSearch(parts);
  const gpCount = parts.documents.gp.ownLengths.length;
  const counters = forEachFacet((name) => openFacetCounter(parts.facets[name], gpCount));
  const set = makeBitset(gpCount);
  const setOf = ({ all }: FoundGps) => {
    storeBits(set, all);
    return set;
  };
  let byActivity: Uint32Array | undefined;
  return {
    select(filter, order, { limit, offset }) {
      const found = gps.find(filter);
      const positions: number[] = [];
      if (order === "name") pageOfBits(found.all, offset, limit, positions);
      else
        pageInOrder(
          setOf(found),
          (byActivity ??= orderByActivity(parts)),
          offset,
          limit,
          positions,
        );
      return { total: countBits(found.all), positions, misses: found.misses };
    },
    count(facet, values, filter) {
      const found = setOf(gps.find({ ...filter, [facet]: undefined }));
      return values.map((value) => counters[facet].count(fold(value), found));
    },
    find: (filter) => setOf(gps.find(filter)),
  };
}

/** Orders GPs by their latest signal. Signals are numbered from the newest on, so a GP's first is its latest. */
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

interface FacetCounter {
  /** Counts the GPs of a set that a query for the spelling finds. */
  count(folded: string, gps: Bitset): number;
}

function openFacetCounter(index: FacetIndex, gpCount: number): FacetCounter {
  const gpsOfValue = openPositionLists(index.gpsOfValue, gpCount);
  const carriers = makeUnion(gpCount);
  return {
    count(folded, gps) {
      emptyUnion(carriers);
      for (const value of valuesOf(index, folded)) gpsOfValue.addTo(carriers, value);
      return countBits({ some: carriers.sets, each: [[gps]], but: [] });
    },
  };
}
