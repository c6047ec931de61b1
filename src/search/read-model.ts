/** One dataset in memory: answers which records satisfy a query, how many, and in what order. */
import { fold } from "#records/fold.ts";
import {
  addBit,
  countBits,
  forEachBit,
  keepCommon,
  keepFirst,
  makeBitset,
  pageOfBits,
  type Bitset,
} from "./bitset.ts";
import { documentCount, type DocumentPlaces, type Documents } from "./documents.ts";
import { addCarriers, type FacetIndex } from "./facet-index.ts";
import { positionOfId, type IdIndex } from "./id-index.ts";
import type { Lists } from "./lists.ts";
import { matchNames, rankCount } from "./match-names.ts";
import type { NameIndex } from "./name-index.ts";
import { suggest, type SuggestionIndex } from "./suggestions.ts";

export const linkedKinds = ["principal", "signal", "project"] as const;
export type LinkedKind = (typeof linkedKinds)[number];
export const facetNames = ["tag", "theme", "market"] as const;
export type FacetName = (typeof facetNames)[number];

/** What the records of a dataset are found by. It is stored with them: to make it takes longer than to read it. */
export interface DatasetIndex {
  documents: Readonly<Record<"gp" | LinkedKind, DocumentPlaces>>;
  names: NameIndex;
  nameSuggestions: SuggestionIndex;
  facets: Readonly<Record<FacetName, FacetIndex>>;
  ids: IdIndex;
  /** GP → positions of its records of that kind, ascending, so in display order. */
  recordsOfGp: Readonly<Record<LinkedKind, Lists>>;
}

/** All of a dataset, in arrays of numbers. */
export interface DatasetParts extends DatasetIndex {
  version: string;
  /** Time the dataset was built, RFC 3339. */
  updatedAt: string;
  documents: Readonly<Record<"gp" | LinkedKind, Documents>>;
}

/** What is asked of a GP; a record answers if one of its GPs satisfies all of it. */
export interface GpFilter {
  name?: string | undefined;
  tag?: readonly string[] | undefined;
  theme?: readonly string[] | undefined;
  market?: readonly string[] | undefined;
}

/** A part of the filter that no GP satisfies; `folded` is empty where nothing of it can be searched. */
export interface Miss {
  parameter: "gp_name" | FacetName;
  value: string;
  folded: string;
}

export interface Selection {
  /** How many records satisfy the filter. */
  total: number;
  /** Positions of those on the page, in order. */
  positions: number[];
  misses: Miss[];
}

export interface Bounds {
  limit: number;
  offset: number;
}

export interface ReadModel {
  readonly parts: DatasetParts;
  /** GPs, best name first. */
  selectGps(filter: GpFilter, bounds: Bounds): Selection;
  /** Records linked to a GP that satisfies the filter; without a filter all, linked or not. */
  selectLinked(kind: LinkedKind, filter: GpFilter, bounds: Bounds): Selection;
  /** At most three known names or values like the one that was missed. */
  suggestionsFor(miss: Miss): string[];
}

/** A model keeps scratch sets between calls, so it serves one thread. */
export function openReadModel(parts: DatasetParts): ReadModel {
  const gpCount = documentCount(parts.documents.gp);
  const ranked = Array.from({ length: rankCount }, () => makeBitset(gpCount));
  const carriers = makeBitset(gpCount);
  const linked = Object.fromEntries(
    linkedKinds.map((kind) => [kind, makeBitset(documentCount(parts.documents[kind]))]),
  ) as Record<LinkedKind, Bitset>;

  /** Leaves in `ranked` the GPs that satisfy the filter, each in one set. */
  function rank(filter: GpFilter): Miss[] {
    for (const set of ranked) set.fill(0);
    const misses = filter.name === undefined ? allGps() : rankByName(filter.name);
    for (const facet of facetNames) {
      const values = filter[facet];
      if (values === undefined || values.length === 0) continue;
      carriers.fill(0);
      for (const value of values) {
        const folded = fold(value);
        const isCarried = folded !== "" && addCarriers(parts.facets[facet], folded, carriers);
        if (!isCarried) misses.push({ parameter: facet, value, folded });
      }
      for (const set of ranked) keepCommon(set, carriers);
    }
    return misses;
  }

  function allGps(): Miss[] {
    for (let gp = 0; gp < gpCount; gp++) addBit(ranked[0]!, gp);
    return [];
  }

  function rankByName(name: string): Miss[] {
    const gp = positionOfId(parts.ids, name);
    if (gp !== -1) {
      addBit(ranked[0]!, gp);
      return [];
    }
    const folded = fold(name);
    if (folded !== "") matchNames(parts.names, folded, ranked);
    return keepFirst(ranked) ? [] : [{ parameter: "gp_name", value: name, folded }];
  }

  function pageOf(sets: readonly Bitset[], { limit, offset }: Bounds, misses: Miss[]): Selection {
    const positions: number[] = [];
    let total = 0;
    let skip = offset;
    for (const set of sets) {
      total += countBits(set);
      skip = pageOfBits(set, skip, limit, positions);
    }
    return { total, positions, misses };
  }

  return {
    parts,
    selectGps(filter, bounds) {
      const misses = rank(filter);
      return pageOf(ranked, bounds, misses);
    },
    selectLinked(kind, filter, bounds) {
      if (isEmpty(filter)) return pageOfAll(documentCount(parts.documents[kind]), bounds);
      const misses = rank(filter);
      const records = linked[kind].fill(0);
      const { starts, items } = parts.recordsOfGp[kind];
      for (const set of ranked)
        forEachBit(set, (gp) => {
          for (let i = starts[gp]!; i < starts[gp + 1]!; i++) addBit(records, items[i]!);
        });
      return pageOf([records], bounds, misses);
    },
    suggestionsFor({ parameter, folded }) {
      if (folded === "") return [];
      const known =
        parameter === "gp_name" ? parts.nameSuggestions : parts.facets[parameter].suggestions;
      return suggest(known, folded);
    },
  };
}

const isEmpty = ({ name, tag, theme, market }: GpFilter) =>
  name === undefined &&
  ![tag, theme, market].some((values) => values !== undefined && values.length > 0);

function pageOfAll(total: number, { limit, offset }: Bounds): Selection {
  const positions: number[] = [];
  for (let at = offset; at < Math.min(total, offset + limit); at++) positions.push(at);
  return { total, positions, misses: [] };
}
