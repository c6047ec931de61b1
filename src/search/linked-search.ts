/** Finds the principals, signals or projects of the GPs that satisfy a filter. */
import { fold } from "#records/fold.ts";
import type { LinkedKind } from "#records/kinds.ts";
import {
  addBit,
  addBits,
  type Bitset,
  clear,
  type Combination,
  countBits,
  forEachBit,
  hasBit,
  isTouched,
  keepCount,
  makeBitset,
  only,
  storeBits,
} from "./bitset.ts";
import { type DatasetParts, facetNames } from "./dataset-parts.ts";
import { documentCount } from "./documents.ts";
import { askedValues, type Miss } from "./facet-index.ts";
import { type GpFilter, type GpSearch, missedName } from "./gp-search.ts";
import { emptyUnion, isLong, type Lists, makeUnion, type Union } from "./lists.ts";
import { forEachWord, keep, matchWord } from "./match-names.ts";

interface FoundRecords {
  /** Records, valid until the next search. */
  found: Combination;
  total: number;
}

interface LinkedSearch {
  /** Number of all records of the kind. */
  count: number;
  /** @param filter has a name or a facet. */
  find(filter: GpFilter): FoundRecords & { misses: Miss[] };
}

/** Most names of several common words that are kept, the latest ones. */
const commonNamesKept = 32;

export function openLinkedSearch(
  parts: DatasetParts,
  gps: GpSearch,
  kind: LinkedKind,
): LinkedSearch {
  const count = documentCount(parts.documents[kind]);
  const { first, later } = parts.names.gpsOfWord;
  const links = openLinks(parts.recordsOfGp[kind], count);
  const ofWord = openLinkedSets([first, later], links);
  const facets = facetNames.map((name) => ({
    name,
    ofValue: openLinkedSets([parts.facets[name].gpsOfValue], links),
    union: links.makeUnion(),
  }));
  const ofName = links.makeUnion();
  const ofCommonName = new Map<string, LinkedSet>();
  const found = makeBitset(count);

  /** Returns the records of the GPs with the word in a name. */
  function findWord(name: string, folded: string, misses: Miss[]): LinkedUnion {
    const match = matchWord(parts.names, folded);
    emptyLinks(ofName);
    forEachWord(match, (word) => ofWord.addTo(ofName, word));
    if (match.gpCount === 0) misses.push(missedName(name, folded));
    return ofName;
  }

  /** Returns the records of the GPs with a name of several words, if many have it. */
  function findCommonName(name: string): LinkedUnion {
    let known = ofCommonName.get(name);
    if (known === undefined) {
      known = links.makeSet();
      const { records, shared } = known;
      forEachBit(gps.find({ gp_name: name }).all, (gp) => links.follow(gp, records, shared));
      keepCount(records);
      keep(ofCommonName, name, known, commonNamesKept);
    }
    emptyLinks(ofName);
    addLinks(ofName, known);
    return ofName;
  }

  /** Returns the records of the GPs that carry one of the values. */
  function findFacet(
    { name, ofValue, union }: (typeof facets)[number],
    asked: readonly string[],
    misses: Miss[],
  ) {
    emptyLinks(union);
    const missed = { kind: "gp", parameter: name } as const;
    for (const value of askedValues(parts.facets[name], missed, asked, misses))
      ofValue.addTo(union, value);
    return union;
  }

  function follow(all: Combination): FoundRecords {
    clear(found);
    forEachBit(all, (gp) => links.follow(gp, found, null));
    return { found: only(found), total: countBits(only(found)) };
  }

  function combine([one, ...others]: readonly LinkedUnion[]): FoundRecords {
    if (others.length > 0) return { found: only(found), total: links.combine(one!, others, found) };
    const all = { some: one!.records.sets.filter(isTouched), each: [], but: [] };
    return { found: all, total: countBits(all) };
  }

  return {
    count,
    find(filter) {
      const { gp_name: name } = filter;
      const folded = name === undefined ? "" : fold(name);
      const misses: Miss[] = [];
      const unions: LinkedUnion[] = [];
      // Only one word is like a facet: several must be in the same name, and the id of a GP folds to two.
      if (folded !== "" && !folded.includes(" ")) unions.push(findWord(name!, folded, misses));
      else if (name !== undefined) {
        const gpsFound = gps.find(filter);
        if (!isLong(countBits(gpsFound.all), links.gpCount))
          return { ...follow(gpsFound.all), misses: gpsFound.misses };
        unions.push(findCommonName(name));
      }
      for (const facet of facets) {
        const { [facet.name]: asked = [] } = filter;
        if (asked.length > 0) unions.push(findFacet(facet, asked, misses));
      }
      return { ...combine(unions), misses };
    },
  };
}

/**
 * Records, and links to records of several GPs. If two sets have such a record, it may be for different GPs. If both have
 * one of its links, it is for the same GP.
 */
interface LinkedSet {
  records: Bitset;
  shared: Bitset;
}

interface LinkedUnion {
  records: Union;
  shared: Union;
}

function emptyLinks({ records, shared }: LinkedUnion): void {
  emptyUnion(records);
  emptyUnion(shared);
}

function addLinks(union: LinkedUnion, { records, shared }: LinkedSet): void {
  union.records.sets.push(records);
  union.shared.sets.push(shared);
}

interface Links {
  gpCount: number;
  /** Number of links. */
  count: number;
  recordsOf(gp: number): number[];
  /** Returns the GP's links to records that it shares. */
  sharedOf(gp: number): number[];
  makeSet(): LinkedSet;
  makeUnion(): LinkedUnion;
  /** Adds the records of a GP, and its links to shared ones unless `shared` is null. */
  follow(gp: number, records: Bitset, shared: Bitset | null): void;
  /** Stores the records of GPs that are in each of the unions in `found`. @returns their number. */
  combine(one: LinkedUnion, others: readonly LinkedUnion[], found: Bitset): number;
}

function openLinks({ starts, items }: Lists, recordCount: number): Links {
  const gpCount = starts.length - 1;
  const { firstShared, recordOfShared, unshared } = findShared({ starts, items }, recordCount);
  const sharedCount = recordOfShared.length;
  return {
    gpCount,
    count: items.length,
    recordsOf: (gp) => [...items.subarray(starts[gp], starts[gp + 1])],
    sharedOf: (gp) =>
      Array.from(
        { length: firstShared[gp + 1]! - firstShared[gp]! },
        (_, i) => firstShared[gp]! + i,
      ),
    makeSet: () => ({ records: makeBitset(recordCount), shared: makeBitset(sharedCount) }),
    makeUnion: () => ({ records: makeUnion(recordCount), shared: makeUnion(sharedCount) }),
    follow(gp, records, shared) {
      addBits(records, items, starts[gp]!, starts[gp + 1]!);
      if (shared === null) return;
      for (let link = firstShared[gp]!; link < firstShared[gp + 1]!; link++) addBit(shared, link);
    },
    combine(one, others, found) {
      const records = others.map((union) => union.records.sets);
      const each = [...records, [unshared]];
      let total = storeBits(found, { some: one.records.sets, each, but: [] });
      const shared = others.map((union) => union.shared.sets);
      forEachBit({ some: one.shared.sets, each: shared, but: [] }, (link) => {
        const record = recordOfShared[link]!;
        if (hasBit(found, record)) return;
        addBit(found, record);
        total++;
      });
      return total;
    },
  };
}

/** Finds the links to records of several GPs, and numbers them GP by GP. */
function findShared({ starts, items }: Lists, count: number) {
  const gpsOfRecord = new Uint32Array(count);
  for (const record of items) gpsOfRecord[record]!++;
  const unshared = makeBitset(count);
  for (let record = 0; record < count; record++)
    if (gpsOfRecord[record] === 1) addBit(unshared, record);
  const firstShared = new Uint32Array(starts.length);
  const recordOfShared = items.filter((record) => gpsOfRecord[record]! > 1);
  let link = 0;
  for (let gp = 0; gp + 1 < starts.length; gp++) {
    for (let i = starts[gp]!; i < starts[gp + 1]!; i++) if (gpsOfRecord[items[i]!]! > 1) link++;
    firstShared[gp + 1] = link;
  }
  return { firstShared, recordOfShared, unshared };
}

interface LinkedLists {
  records: Uint32Array;
  shared: Uint32Array;
}

/** Most numbers in the kept lists of rare words and values, for each link. */
const numbersOfLink = 2;

/**
 * Opens the records of all GPs of a word or a value, made when they are first needed. If many GPs have it, the records are
 * kept as a set. A GP has a dozen words and values, so there are some hundred sets. Else they are kept as lists, up to a
 * limit.
 */
function openLinkedSets(lists: readonly Lists[], links: Links) {
  const sets = new Map<number, LinkedSet>();
  const rare = new Map<number, LinkedLists>();
  let room = links.count * numbersOfLink;

  const gpsOf = (number: number) =>
    lists.map(({ starts, items }) => items.subarray(starts[number], starts[number + 1]));

  function makeSet(number: number): LinkedSet {
    const made = links.makeSet();
    for (const gps of gpsOf(number))
      for (const gp of gps) links.follow(gp, made.records, made.shared);
    keepCount(made.records);
    sets.set(number, made);
    return made;
  }

  function makeLists(number: number): LinkedLists {
    const gps = gpsOf(number).flatMap((some) => [...some]);
    const made = {
      records: Uint32Array.from(gps.flatMap(links.recordsOf)),
      shared: Uint32Array.from(gps.flatMap(links.sharedOf)),
    };
    room -= made.records.length + made.shared.length;
    if (room < 0) {
      rare.clear();
      room = links.count * numbersOfLink;
    }
    rare.set(number, made);
    return made;
  }

  return {
    addTo(union: LinkedUnion, number: number): void {
      let length = 0;
      for (const { starts } of lists) length += starts[number + 1]! - starts[number]!;
      if (isLong(length, links.gpCount))
        return addLinks(union, sets.get(number) ?? makeSet(number));
      const { records, shared } = rare.get(number) ?? makeLists(number);
      addBits(union.records.own, records, 0, records.length);
      addBits(union.shared.own, shared, 0, shared.length);
    },
  };
}
