/** One dataset in memory: answers which records satisfy a query, how many, and in what order. */
import { type Combination, countBits, pageOfBits } from "./bitset.ts";
import type { DatasetParts, LinkedKind } from "./dataset-parts.ts";
import { type GpFilter, hasFacets, type Miss, openGpSearch } from "./gp-search.ts";
import { openLinkedSearch } from "./linked-search.ts";
import { suggestionsFor } from "./suggestions.ts";

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

/** Every member throws once the model is closed. */
export interface ReadModel {
  readonly parts: DatasetParts;
  /** GPs, best name first. */
  selectGps(filter: GpFilter, bounds: Bounds): Selection;
  /** Records linked to a GP that satisfies the filter; without a filter all, linked or not. */
  selectLinked(kind: LinkedKind, filter: GpFilter, bounds: Bounds): Selection;
  /** At most three known names or values like the one that was missed. */
  suggestionsFor(miss: Miss): string[];
  /** Refuses every question from now on: arrays that are freed hold nothing, and would give wrong answers without an error. */
  close(): void;
}

/** A model keeps scratch sets between calls, so it serves one thread. */
export function openReadModel(parts: DatasetParts): ReadModel {
  const gps = openGpSearch(parts);
  const linked = {
    principal: openLinkedSearch(parts, gps, "principal"),
    signal: openLinkedSearch(parts, gps, "signal"),
    project: openLinkedSearch(parts, gps, "project"),
  };
  let isClosed = false;
  const requireOpen = () => {
    if (isClosed) refuse(parts.version);
  };
  const model: ReadModel = {
    parts,
    close() {
      isClosed = true;
      const { version } = parts;
      Object.defineProperty(model, "parts", { get: () => refuse(version) });
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

function refuse(version: string): never {
  throw new Error(`The dataset ${version} was replaced, and its memory is given back.`);
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
