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
  isTouched,
  keepCount,
  makeBitset,
  only,
  storeBits,
} from "./bitset.ts";
import { type DatasetParts, documentCount, facetNames } from "./dataset-parts.ts";
import { askedValues, type Miss } from "./facet-index.ts";
import { type Found, type GpFilter, type GpSearch, missedName } from "./gp-search.ts";
import { emptyUnion, isLong, type Lists, makeUnion, type Union } from "./lists.ts";
import { commonNamesKept, forEachWord, keep, matchWord } from "./match-names.ts";

export function openLinkedSearch(parts: DatasetParts, gps: GpSearch, kind: LinkedKind) {
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

  /** Returns the records of the GPs that carry at least one of the values. */
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

  function follow(all: Combination): Combination {
    clear(found);
    forEachBit(all, (gp) => links.follow(gp, found, null));
    return only(found);
  }

  function combine([one, ...others]: readonly LinkedUnion[]): Combination {
    if (others.length === 0)
      return { some: one!.records.sets.filter(isTouched), each: [], but: [] };
    links.combine(one!, others, found);
    return only(found);
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
          const all = follow(gpsFound.all);
          return { all, ranks: [all], misses: gpsFound.misses };
        }
        unions.push(findCommonName(name));
      }
      for (const facet of facets) {
        const { [facet.name]: asked = [] } = filter;
        if (asked.length > 0) unions.push(findFacet(facet, asked, misses));
      }
      const all = combine(unions);
      return { all, ranks: [all], misses };
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
    /** Stores in `found` the records that all the unions have because of the same GP. */
    combine(one: LinkedUnion, others: readonly LinkedUnion[], found: Bitset): void {
      const records = others.map((union) => union.records.sets);
      storeBits(found, { some: one.records.sets, each: [...records, [unshared]], but: [] });
      const shared = others.map((union) => union.shared.sets);
      forEachBit({ some: one.shared.sets, each: shared, but: [] }, (link) =>
        addBit(found, recordOfShared[link]!),
      );
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

/**
 * Opens the records of all GPs with a word or a value. If many GPs have it, their records are kept as a set from the
 * first use on. A GP has about a dozen words and values, so at most about 1,500 sets are kept.
 */
function openLinkedSets(lists: readonly Lists[], links: Links) {
  const sets = new Map<number, LinkedSet>();

  function follow(number: number, { records, shared }: LinkedSet): void {
    for (const { starts, items } of lists)
      for (let i = starts[number]!; i < starts[number + 1]!; i++)
        links.follow(items[i]!, records, shared);
  }

  function makeSet(number: number): LinkedSet {
    const made = links.makeSet();
    follow(number, made);
    keepCount(made.records);
    sets.set(number, made);
    return made;
  }

  return {
    addTo(union: LinkedUnion, number: number): void {
      let length = 0;
      for (const { starts } of lists) length += starts[number + 1]! - starts[number]!;
      if (isLong(length, links.gpCount)) addLinks(union, sets.get(number) ?? makeSet(number));
      else follow(number, { records: union.records.own, shared: union.shared.own });
    },
  };
}
