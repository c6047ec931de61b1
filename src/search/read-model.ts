/** A dataset in memory. It finds the records that satisfy a query, their number and their order. */
import { type Combination, countBits, pageOfBits } from "./bitset.ts";
import type { DatasetParts, LinkedKind } from "./dataset-parts.ts";
import { type GpFilter, hasFacets, type Miss, openGpSearch } from "./gp-search.ts";
import { openLinkedSearch } from "./linked-search.ts";
import { suggestionsFor } from "./suggestions.ts";

export interface Selection {
  /** Number of records that satisfy the filter. */
  total: number;
  /** Positions of the records on the page, in order. */
  positions: number[];
  misses: Miss[];
}

export interface Bounds {
  limit: number;
  offset: number;
}

/** A dataset to ask. Every member throws once it is closed. */
export interface ReadModel {
  readonly parts: DatasetParts;
  /** Selects GPs, best name first. */
  selectGps(filter: GpFilter, bounds: Bounds): Selection;
  /** Selects records linked to a GP that satisfies the filter. Without a filter it selects all, linked or not. */
  selectLinked(kind: LinkedKind, filter: GpFilter, bounds: Bounds): Selection;
  /** Returns at most three known names or values like the missed one. */
  suggestionsFor(miss: Miss): string[];
  /** Refuses every question from now on. Freed arrays are empty, and would give wrong answers without an error. */
  close(): void;
}

/** Opens a model. It keeps scratch sets between calls, so it serves one thread. */
export function openReadModel(parts: DatasetParts): ReadModel {
  const gps = openGpSearch(parts);
  const linked = {
    principal: openLinkedSearch(parts, gps, "principal"),
    signal: openLinkedSearch(parts, gps, "signal"),
    project: openLinkedSearch(parts, gps, "project"),
  };
  let isClosed = false;
  const requireOpen = () => {
    if (isClosed) failClosed(parts.version);
  };
  const model: ReadModel = {
    parts,
    close() {
      isClosed = true;
      const { version } = parts;
      Object.defineProperty(model, "parts", { get: () => failClosed(version) });
    },
    selectGps(filter, bounds) {
      requireOpen();
      const { all, ranks, misses } = gps.find(filter);
      return { ...pageOf(countBits(all), ranks, bounds), misses };
    },
    selectLinked(kind, filter, bounds) {
      requireOpen();
      const { count, find } = linked[kind];
      if (filter.name === undefined && !hasFacets(filter)) return pageOfAll(count, bounds);
      const { found, total, misses } = find(filter);
      return { ...pageOf(total, [found], bounds), misses };
    },
    suggestionsFor(miss) {
      requireOpen();
      return suggestionsFor(parts, miss);
    },
  };
  return model;
}

function failClosed(version: string): never {
  throw new Error(`The dataset ${version} was replaced, and its memory has been freed.`);
}

function pageOf(total: number, parts: readonly Combination[], { limit, offset }: Bounds) {
  const positions: number[] = [];
  let skip = offset;
  for (const part of parts) {
    if (positions.length === limit || offset >= total) break;
    skip = pageOfBits(part, skip, limit, positions);
  }
  return { total, positions };
}

function pageOfAll(total: number, { limit, offset }: Bounds): Selection {
  const positions: number[] = [];
  for (let at = offset; at < Math.min(total, offset + limit); at++) positions.push(at);
  return { total, positions, misses: [] };
}
