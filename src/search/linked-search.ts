/** Finds the principals, signals or projects of the GPs that satisfy a filter. */
import { fold } from "#records/fold.ts";
import type { LinkedKind } from "#records/kinds.ts";
import {
  addBit,
  addBits,
  type Bitset,
  clear,
  countBits,
  forEachBit,
  hasBit,
  isTouched,
  keepCount,
  makeBitset,
  only,
  storeBits,
} from "./bitset.ts";
import { type DatasetParts, documentCount, facetNames } from "./dataset-parts.ts";
import { askedValues, type Miss } from "./facet-index.ts";
import { getOrCompute } from "./get-or-compute.ts";
import { type Found, type GpFilter, type GpSearch, missedName } from "./gp-search.ts";
import { emptyUnion, isLong, type Lists, makeUnion, type Union } from "./lists.ts";
import { commonNamesKept, forEachWord, keep, matchWord } from "./match-names.ts";

export function openLinkedSearch(parts: DatasetParts, gps: GpSearch, kind: LinkedKind) {
  const count = documentCount(parts.documents[kind]);
  const { first, later } = parts.names.gpsOfWord;
  const links = openLinks(parts.recordsOfGp[kind], count);
  const ofWord = openLinkedSets([first, later], links);
  const facets = facetNames.map((facet) => ({
    facet,
    ofValue: openLinkedSets([parts.facets[facet].gpsOfValue], links),
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

  /** Returns the records of the many GPs that a name of several words matches. Keeps them for the next query. */
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

  return {
    /** @param filter has a name or a facet. */
    find(filter: GpFilter): Found {
      const { gp_name: name } = filter;
      const folded = name === undefined ? "" : fold(name);
      const misses: Miss[] = [];
      const unions: LinkedUnion[] = [];
      // Only a single word is looked up like a facet. Several words must be in one name, and a GP's id folds to two.
      if (folded !== "" && !folded.includes(" ")) unions.push(findWord(name!, folded, misses));
      else if (name !== undefined) {
        const gpsFound = gps.find(filter);
        if (!isLong(countBits(gpsFound.all), links.gpCount)) {
          clear(found);
          forEachBit(gpsFound.all, (gp) => links.follow(gp, found, null));
          return { all: only(found), ranks: [only(found)], misses: gpsFound.misses };
        }
        unions.push(findCommonName(name));
      }
      for (const { facet, ofValue, union } of facets) {
        const { [facet]: asked = [] } = filter;
        if (asked.length === 0) continue;
        emptyLinks(union);
        const missed = { kind: "gp", parameter: facet } as const;
        for (const value of askedValues(parts.facets[facet], missed, asked, misses))
          ofValue.addTo(union, value);
        unions.push(union);
      }
      const [one, ...others] = unions;
      if (others.length === 0) {
        const all = { some: one!.records.sets.filter(isTouched), each: [], but: [] };
        return { all, ranks: [all], misses };
      }
      const total = links.combine(one!, others, found);
      return { all: only(found), total, ranks: [only(found)], misses };
    },
  };
}

/**
 * A set of records, and a set of links to those that several GPs share. Two sets may have such a record because of
 * different GPs. If both have the same link to it, they have it because of the same GP.
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

type Links = ReturnType<typeof openLinks>;

function openLinks({ starts, items }: Lists, recordCount: number) {
  const gpCount = starts.length - 1;
  const { firstShared, recordOfShared, unshared } = findShared({ starts, items }, recordCount);
  const sharedCount = recordOfShared.length;
  return {
    gpCount,
    count: items.length,
    makeSet: (): LinkedSet => ({
      records: makeBitset(recordCount),
      shared: makeBitset(sharedCount),
    }),
    makeUnion: (): LinkedUnion => ({
      records: makeUnion(recordCount),
      shared: makeUnion(sharedCount),
    }),
    /** Adds a GP's records, and its links to shared ones unless `shared` is null. */
    follow(gp: number, records: Bitset, shared: Bitset | null): void {
      addBits(records, items, starts[gp]!, starts[gp + 1]!);
      if (shared === null) return;
      for (let link = firstShared[gp]!; link < firstShared[gp + 1]!; link++) addBit(shared, link);
    },
    /** Returns the records of GPs, and their links to shared ones. Lists what several of the GPs have several times. */
    listsOf(gps: readonly number[]): LinkedLists {
      const records = gps.flatMap((gp) => [...items.subarray(starts[gp], starts[gp + 1])]);
      const shared = gps.flatMap((gp) => {
        const first = firstShared[gp]!;
        return Array.from({ length: firstShared[gp + 1]! - first }, (_, i) => first + i);
      });
      return { records: Uint32Array.from(records), shared: Uint32Array.from(shared) };
    },
    /** Stores in `found` the records that all the unions have because of the same GP. @returns their number. */
    combine(one: LinkedUnion, others: readonly LinkedUnion[], found: Bitset): number {
      const records = others.map((union) => union.records.sets);
      const each = [...records, [unshared]];
      let total = storeBits(found, { some: one.records.sets, each, but: [] });
      const shared = others.map((union) => union.shared.sets);
      forEachBit({ some: one.shared.sets, each: shared, but: [] }, (link) => {
        const record = recordOfShared[link]!;
        if (!hasBit(found, record)) total++;
        addBit(found, record);
      });
      return total;
    },
  };
}

/** Finds the links to records that several GPs share, and numbers the links GP by GP. */
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

/** Records of the GPs with a rare word or value, and their links to shared ones. */
interface LinkedLists {
  records: Uint32Array;
  shared: Uint32Array;
}

/** Maximum number of entries in the kept lists of rare words and values, for each link from a GP to a record. */
const entriesOfLink = 2;

/**
 * Opens the records of all GPs with a word or a value, kept from the first use on. If many GPs have it, they are kept as
 * a set. A GP has about a dozen words and values, so there are at most about 1,500 sets. Other records are kept as lists,
 * because following a thousand GPs to their records takes 50 µs. All lists are dropped once they are too large together.
 */
function openLinkedSets(lists: readonly Lists[], links: Links) {
  const sets = new Map<number, LinkedSet>();
  const rare = new Map<number, LinkedLists>();
  const roomInAll = links.count * entriesOfLink;
  let room = roomInAll;

  function makeSet(number: number): LinkedSet {
    const made = links.makeSet();
    for (const gp of gpsOf(number)) links.follow(gp, made.records, made.shared);
    keepCount(made.records);
    return made;
  }

  function makeLists(number: number): LinkedLists {
    const made = links.listsOf(gpsOf(number));
    room -= made.records.length + made.shared.length;
    if (room < 0) {
      rare.clear();
      room = roomInAll;
    }
    return made;
  }

  const gpsOf = (number: number): number[] =>
    lists.flatMap(({ starts, items }) => [...items.subarray(starts[number], starts[number + 1])]);

  return {
    addTo(union: LinkedUnion, number: number): void {
      let length = 0;
      for (const { starts } of lists) length += starts[number + 1]! - starts[number]!;
      if (isLong(length, links.gpCount)) {
        addLinks(union, getOrCompute(sets, number, makeSet));
        return;
      }
      const { records, shared } = getOrCompute(rare, number, makeLists);
      addBits(union.records.own, records, 0, records.length);
      addBits(union.shared.own, shared, 0, shared.length);
    },
  };
}
