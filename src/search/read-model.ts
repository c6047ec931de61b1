/** Queries of a dataset in memory: which records satisfy a filter, how many there are, and how many carry a value. */
import { setImmediate } from "node:timers/promises";
import { declarations } from "#records/declarations.ts";
import type { Filterable } from "#records/filterable.ts";
import { fold } from "#records/fold.ts";
import {
  type EachKind,
  eachOf,
  type LinkedKind,
  linkedKinds,
  type NamedKind,
  type RecordKind,
  recordKinds,
} from "#records/kinds.ts";
import {
  addBits,
  type Bitset,
  type Combination,
  countBits,
  everyBit,
  forEachBit,
  clear,
  hasBit,
  isKept,
  keptSet,
  makeBitset,
  only,
  pageOfBits,
  storeBits,
} from "./bitset.ts";
import { type DatasetParts, documentCount, type FacetName, facetNames } from "./dataset-parts.ts";
import { type FacetIndex, longestSpellings, type Miss, type ValueSets } from "./facet-index.ts";
import { getOrCompute } from "./get-or-compute.ts";
import { type Found, type GpFilter, inRanks, openGpSearch } from "./gp-search.ts";
import { openLinkedSearch } from "./linked-search.ts";
import { addLists, invertLists, type Lists } from "./lists.ts";
import { positionOfId } from "./name-index.ts";
import { type Between, openOwnValues, sortByPlaces } from "./own-values.ts";
import { suggest } from "./suggestions.ts";

/** Conditions on records of each kind, by name. */
export const filterable: EachKind<Filterable<never>> = eachOf(
  recordKinds,
  (kind) => declarations[kind].filterable,
);

/**
 * Conditions by name, all of which must hold. A condition is a text, a flag, a list of values, the ends of a range or,
 * for `signal`, a filter on a single signal. A list needs only one match. An empty list, filter or range is ignored.
 */
export interface Filter {
  /** Part of a GP's name, or the GP's id. */
  readonly gp_name?: string | undefined;
  readonly [name: string]: FilterValue | undefined;
}
type FilterValue = string | boolean | readonly string[] | Between | Filter;

/**
 * Order of records by a sortable range of the kind, by `name`, or by `signal_date`, the date of a GP's latest signal.
 * Records without a value come last. Records with the same value are in the order of their ids.
 */
export interface Order {
  readonly by: string;
  readonly isDescending: boolean;
}

export interface Selection {
  /** Number of records that satisfy the filter. */
  total: number;
  /** Positions of the records on the page, in order. */
  positions: number[];
  /** Names, values and ids in the filter that match nothing. Ranges are never listed. */
  misses: Miss[];
}

export interface Bounds {
  limit: number;
  offset: number;
}

/** A dataset that answers queries. Every member but `close` throws once the dataset is closed. */
export interface ReadModel {
  readonly parts: DatasetParts;
  /** Selects records of a kind. Run `prepare` first, or the first query by their values reads all of them. */
  select(kind: RecordKind, filter: Filter, bounds: Bounds, order?: Order): Selection;
  /** Selects records by name, or a GP by id, best match first. Run `prepare` with a `name` first, but not for GPs. */
  search(kind: NamedKind, text: string, bounds: Bounds): Selection;
  /** Reads what a query needs, and yields about every millisecond. */
  prepare(kind: RecordKind, filter: Filter, order?: Order): Generator<void>;
  /** Returns all values that an equality condition finds, each in its longest spelling; none for ids and numbers. */
  values(kind: RecordKind, name: string): readonly string[];
  /**
   * Returns the number of records with each value. Counts only records that satisfy all other conditions of the filter.
   * @param but values that keep a record from being counted.
   */
  count(
    kind: RecordKind,
    name: string,
    values: readonly string[],
    filter: Filter,
    but?: readonly string[],
  ): number[];
  /** Returns a function that reads a record's number, or its date as a `dateKey`; undefined if it has none. */
  numberAt(kind: RecordKind, name: string): (position: number) => number | undefined;
  /** Returns at most three similar names of GPs or values. Returns none for ids, numbers and names of other kinds. */
  suggestionsFor(miss: Miss): string[];
  /** Returns at most three texts similar to a text that matches no name. The similar texts may match no name either. */
  similarNames(kind: NamedKind, text: string): string[];
  /** Refuses every query from now on. Freed arrays are empty and would give wrong answers without an error. */
  close(): void;
}

/** Opens a read model. It keeps scratch sets between calls, so only one thread may use it. */
export function openReadModel(parts: DatasetParts): ReadModel {
  const gps = openGpSearch(parts);
  const own = eachOf(recordKinds, (kind) =>
    openOwnValues(parts, kind, kind === "gp" ? withoutFacets(filterable.gp) : filterable[kind]),
  );
  const linked = eachOf(linkedKinds, (kind) => openLinkedSearch(parts, gps, kind));
  const scratch = new Map<string, Bitset>();
  const valuesOf = new Map<FacetIndex, readonly string[]>();
  /** GPs with a signal that satisfies the current filter, except those found through `gpsOfKept`. */
  const active = makeBitset(documentCount(parts.documents.gp));
  /** Set of signals that no longer changes → the signals' GPs. */
  const gpsOfKept = new WeakMap<Bitset, Bitset>();
  let gpsOfSignal: Lists | undefined;
  const sorted = new Map<string, SortedPositions>();
  let isClosed = false;
  const countOf = (kind: RecordKind) => documentCount(parts.documents[kind]);
  const every = eachOf(recordKinds, (kind) => everyBit(countOf(kind)));
  const scratchOf = (kind: RecordKind, use = "") =>
    getOrCompute(scratch, kind + use, () => makeBitset(countOf(kind)));

  function* prepare(kind: RecordKind, filter: Filter, order?: Order): Generator<void> {
    const { ofRecord } = sortConditions(kind, filter);
    const names = ofRecord.map(([name]) => name).filter((name) => needsValues(kind, name));
    if (order !== undefined) names.push(order.by, "id");
    if (names.length > 0) yield* own[kind].read(names);
    for (const [name, asked] of ofRecord) {
      const { by } = filterable[kind][name]!;
      if (by === "name") yield* own[kind].readNames();
      if (by === "someSignal") yield* prepare("signal", asked as Filter);
    }
    if (order?.by === "signal_date") yield* own.signal.read(["date"]);
  }

  /** Returns lists of sets for a condition on the records themselves. A match is in at least one set of each list. */
  function findBy(kind: RecordKind, name: string, asked: FilterValue, misses: Miss[]) {
    const { by } = filterable[kind][name]!;
    switch (by) {
      case "range":
        return own[kind].between(name, asked as Between);
      case "equality":
        return [own[kind].setsOf(name).find(asked as readonly string[], misses)];
      case "id":
        return [own[kind].withIds(asked as readonly string[], misses)];
      case "name":
        return [own[kind].named(asked as string, misses).flat()];
      case "someSignal":
        return [gpsWithSignal(asked as Filter, misses)];
      case "gpId":
        return [[recordsOf(kind as LinkedKind, asked as readonly string[], misses)]];
      default:
        return [[withGp(kind as LinkedKind, asked as boolean)]];
    }
  }

  function recordsOf(kind: LinkedKind, ids: readonly string[], misses: Miss[]): Bitset {
    const found = scratchOf(kind, "gp_id");
    clear(found);
    const { starts, items } = parts.recordsOfGp[kind];
    for (const id of ids) {
      const gp = positionOfId(parts.ids, id);
      if (gp === -1) misses.push({ kind, parameter: "gp_id", value: id, folded: id });
      else addBits(found, items, starts[gp]!, starts[gp + 1]!);
    }
    return found;
  }

  const linkedOrNot = new Map<string, Bitset>();

  /** Returns the records that belong to a GP, or those that belong to none. */
  const withGp = (kind: LinkedKind, isWanted: boolean): Bitset =>
    getOrCompute(linkedOrNot, `${kind} ${isWanted}`, () =>
      keptSet(countOf(kind), (set) => {
        const { items } = parts.recordsOfGp[kind];
        addBits(set, items, 0, items.length);
        if (!isWanted) storeBits(set, { some: [every[kind]], each: [], but: [set] });
      }),
    );

  function gpsWithSignal(filter: Filter, misses: Miss[]): readonly Bitset[] {
    const { all, misses: missed } = find("signal", filter);
    misses.push(...missed.map((one) => ({ ...one, parameter: `signal_${one.parameter}` })));
    const ofSignal = (gpsOfSignal ??= invertLists(parts.recordsOfGp.signal, countOf("signal")));
    // Kept, because following 100,000 signals takes 1 ms.
    const kept = all.each.length > 0 ? [] : all.some.filter(isKept);
    clear(active);
    addLists(active, ofSignal, { ...all, some: all.some.filter((set) => !kept.includes(set)) });
    const gpsOf = (signals: Bitset) =>
      keptSet(countOf("gp"), (gps) => addLists(gps, ofSignal, only(signals)));
    return [active, ...kept.map((set) => getOrCompute(gpsOfKept, set, gpsOf))];
  }

  function find(kind: RecordKind, filter: Filter): Found {
    const { ofGp, ofRecord } = sortConditions(kind, filter);
    const missed: Miss[] = [];
    // These come first, because a query for signals may use the sets that a search for GPs fills.
    const others = ofRecord.flatMap(([name, asked]) => findBy(kind, name, asked, missed));
    if (ofGp === null) {
      const [some = [every[kind]], ...each] = others;
      const all = { some, each, but: [] };
      return { all, ranks: [all], misses: missed };
    }
    const found = kind === "gp" ? gps.find(ofGp) : linked[kind].find(ofGp);
    const misses = [...found.misses, ...missed];
    if (others.length === 0) return { ...found, misses };
    const narrow = (one: Combination) => ({ ...one, each: [...one.each, ...others] });
    return { all: narrow(found.all), ranks: found.ranks.map(narrow), misses };
  }

  const sortedBy = (kind: RecordKind, order: Order): SortedPositions =>
    getOrCompute(sorted, `${kind} ${order.by} ${order.isDescending}`, () => {
      const places =
        order.by === "signal_date"
          ? latestSignals(parts, own.signal.places("date"))
          : own[kind].places(order.by);
      return withPlaces(sortByPlaces(places, own[kind].byId(), order.isDescending));
    });

  const setsOf = (kind: RecordKind, name: string): ValueSets =>
    kind === "gp" && isFacet(name) ? gps.facets[name] : own[kind].setsOf(name);

  const model: ReadModel = {
    parts,
    close() {
      isClosed = true;
      const { version } = parts;
      for (const name in model)
        if (name !== "close")
          Object.defineProperty(model, name, { get: () => failClosed(version) });
    },
    select(kind, filter, bounds, order) {
      if (kind !== "gp" && order === undefined && !isGiven(filter))
        return pageOfAll(countOf(kind), bounds);
      const { all, ranks, misses } = find(kind, filter);
      if (order === undefined) return { ...pageOf(countBits(all), ranks, bounds), misses };
      const found = scratchOf(kind);
      const total = storeBits(found, all);
      return { total, positions: pageInOrder(found, total, sortedBy(kind, order), bounds), misses };
    },
    search(kind, text, bounds) {
      if (kind === "gp") return model.select(kind, { gp_name: text }, bounds);
      const misses: Miss[] = [];
      const { all, ranks } = inRanks(own[kind].named(text, misses));
      return { ...pageOf(countBits(all), ranks, bounds), misses };
    },
    *prepare(kind, filter, order) {
      for (const _ of prepare(kind, filter, order)) {
        yield;
        if (isClosed) failClosed(parts.version);
      }
    },
    values(kind, name) {
      const { index } = setsOf(kind, name);
      return index === null ? [] : getOrCompute(valuesOf, index, longestSpellings);
    },
    count(kind, name, values, filter, but = []) {
      const { find: carriersOf } = setsOf(kind, name);
      const set = scratchOf(kind);
      storeBits(set, find(kind, { ...filter, [name]: undefined }).all);
      if (but.length > 0) storeBits(set, { some: [set], each: [], but: carriersOf(but, []) });
      const each = [[set]];
      return values.map((value) => countBits({ some: carriersOf([value], []), each, but: [] }));
    },
    numberAt: (kind, name) => own[kind].numberAt(name),
    suggestionsFor({ kind, parameter, folded }) {
      if (folded === "") return [];
      if (parameter === "gp_name") return suggest(parts.nameSuggestions, folded);
      if (filterable[kind][parameter]?.by !== "equality") return [];
      const { index } = setsOf(kind, parameter);
      return index === null ? [] : suggest(index.suggestions, folded);
    },
    similarNames(kind, text) {
      const folded = fold(text);
      if (folded === "") return [];
      return kind === "gp" ? suggest(parts.nameSuggestions, folded) : own[kind].similar(folded);
    },
  };
  return model;
}

function failClosed(version: string): never {
  throw new Error(`The dataset ${version} was replaced, and its memory has been freed.`);
}

/** Reports whether a condition needs values that `read` takes from the documents. */
const needsValues = (kind: RecordKind, name: string): boolean => {
  const { by } = filterable[kind][name]!;
  return by === "equality" || by === "range" || (by === "id" && kind !== "gp");
};

const isFacet = (name: string): name is FacetName => facetNames.some((one) => one === name);

/** Returns the conditions without the facets of GPs, which are indexed at import. */
const withoutFacets = (conditions: Filterable<never>): Filterable<never> =>
  Object.fromEntries(Object.entries(conditions).filter(([name]) => !isFacet(name)));

/**
 * Sorts a filter's conditions by their subject. `ofGp` has the conditions on one GP of the record; null if there are
 * none. For GPs it has those on the GP's names and facets, and is never null.
 * @throws Error if the kind has no condition of a given name.
 */
function sortConditions(kind: RecordKind, filter: Filter) {
  const ofGp: Record<string, FilterValue> = {};
  const ofRecord: [string, FilterValue][] = [];
  for (const name in filter) {
    const { [name]: asked } = filter;
    if (!isGiven(asked)) continue;
    const by = filterable[kind][name]?.by;
    if (name === "gp_name" || by === "ofOneGp" || (kind === "gp" && isFacet(name)))
      ofGp[name] = asked;
    else if (by !== undefined) ofRecord.push([name, asked]);
    else throw new Error(`Records of kind '${kind}' have no condition '${name}'.`);
  }
  const isOfGp = kind === "gp" || Object.keys(ofGp).length > 0;
  return { ofGp: isOfGp ? (ofGp as GpFilter) : null, ofRecord };
}

/** Reports whether a condition asks for anything. An empty list, an empty filter and a range without ends do not. */
function isGiven(asked: FilterValue | undefined): asked is FilterValue {
  if (typeof asked !== "object") return asked !== undefined;
  if (Array.isArray(asked)) return asked.length > 0;
  return Object.values(asked as Filter).some(isGiven);
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

/** Returns the place of each GP's latest signal date; -1 if it has no signals. A GP's first signal is its latest. */
const latestSignals = ({ recordsOfGp: { signal } }: DatasetParts, places: Int32Array): Int32Array =>
  Int32Array.from({ length: signal.starts.length - 1 }, (_, gp) => {
    const [first, end] = [signal.starts[gp]!, signal.starts[gp + 1]!];
    return first === end ? -1 : places[signal.items[first]!]!;
  });

/** All positions of a kind in a sort order, and the place of each position in that order. */
interface SortedPositions {
  order: Uint32Array;
  placeOf: Uint32Array;
}

function withPlaces(order: Uint32Array): SortedPositions {
  const placeOf = new Uint32Array(order.length);
  order.forEach((position, place) => (placeOf[position] = place));
  return { order, placeOf };
}

/** Maximum ratio of positions to results for reading all positions in order. Above it, sorting results is faster. */
const readPerResultMax = 128;

function pageInOrder(
  found: Bitset,
  total: number,
  { order, placeOf }: SortedPositions,
  { limit, offset }: Bounds,
): number[] {
  if (order.length > total * readPerResultMax) {
    const places = new Uint32Array(total);
    let count = 0;
    forEachBit(only(found), (position) => (places[count++] = placeOf[position]!));
    return Array.from(places.sort().subarray(offset, offset + limit), (place) => order[place]!);
  }
  const page: number[] = [];
  let skip = offset;
  for (let i = 0; i < order.length && page.length < limit && offset < total; i++)
    if (hasBit(found, order[i]!) && skip-- <= 0) page.push(order[i]!);
  return page;
}

/** Time after which other work may run between two steps, in ms. */
const turnMilliseconds = 2;

/** Runs steps, with pauses for other work. Returns true at the end, or false once `isWanted` is false after a pause. */
export async function runInTurns(steps: Iterable<void>, isWanted = () => true): Promise<boolean> {
  let begun = performance.now();
  for (const _ of steps) {
    if (performance.now() - begun < turnMilliseconds) continue;
    await setImmediate();
    if (!isWanted()) return false;
    begun = performance.now();
  }
  return true;
}

/** Prepares a model for a query, and lets other work run in between. */
export const prepareInTurns = (
  model: ReadModel,
  kind: RecordKind,
  filter: Filter,
  order?: Order,
): Promise<unknown> => runInTurns(model.prepare(kind, filter, order));
