/** Finds the principals, signals or projects of the GPs that satisfy a filter. */
import { fold } from "#records/fold.ts";
import { eachOf, type LinkedKind } from "#records/kinds.ts";
import { addBits, type Bitset, type Combination, countBits, keptSet } from "./bitset.ts";
import { type DatasetParts, documentCount, facetNames } from "./dataset-parts.ts";
import { askedValues, type Miss } from "./facet-index.ts";
import { getOrCompute, getOrKeep } from "./get-or-compute.ts";
import { type Found, type GpFilter, type GpSearch, inRanks, missedName } from "./gp-search.ts";
import { addLists, emptyUnion, isLong, type Lists, makeUnion, type Union } from "./lists.ts";
import { forEachWord, matchWord } from "./match-names.ts";

/**
 * Maximum number of filters whose results are kept. Results are kept only if many GPs satisfy the filter, because
 * following 10,000 GPs to their records takes 0.2 ms. A filter takes one bit for each record of the kind.
 */
const filtersKept = 256;

export function openLinkedSearch(parts: DatasetParts, gps: GpSearch, kind: LinkedKind) {
  const recordsOfGp = parts.recordsOfGp[kind];
  const count = documentCount(parts.documents[kind]);
  const { first, later } = parts.names.gpsOfWord;
  const ofWord = openRecordLists([first, later], recordsOfGp, count);
  const ofValue = eachOf(facetNames, (facet) =>
    openRecordLists([parts.facets[facet].gpsOfValue], recordsOfGp, count),
  );
  const found = makeUnion(count);
  /** Filter that many GPs satisfy → records of these GPs. */
  const ofCommonFilter = new Map<string, Bitset>();

  /** Adds to `found` the records of the GPs with the word in a name. Adds a miss if there are no such GPs. */
  function findWord(name: string, folded: string, misses: Miss[]): void {
    const match = matchWord(parts.names, folded);
    forEachWord(match, (word) => ofWord.addTo(found, word));
    if (match.gpCount === 0) misses.push(missedName(name, folded));
  }

  /** Returns the records of many GPs. Keeps them for the next page of the same filter. */
  const recordsOfMany = (filter: GpFilter, many: Combination): Bitset =>
    getOrKeep(ofCommonFilter, JSON.stringify(filter), filtersKept, () =>
      keptSet(count, (set) => addLists(set, recordsOfGp, many)),
    );

  return {
    /** Finds the records of the GPs that satisfy a filter. @param filter filter with a name or a facet. */
    find(filter: GpFilter): Found {
      const { gp_name: name } = filter;
      const facets = facetNames.filter((facet) => filter[facet] !== undefined);
      const folded = name === undefined ? "" : fold(name);
      const misses: Miss[] = [];
      emptyUnion(found);
      // Only a single word is looked up like a facet. Several words must be in one name, and a GP's id folds to two.
      if (facets.length === 0 && folded !== "" && !folded.includes(" "))
        findWord(name!, folded, misses);
      else if (facets.length === 1 && name === undefined) {
        const facet = facets[0]!;
        const missed = { kind: "gp", parameter: facet } as const;
        for (const value of askedValues(parts.facets[facet], missed, filter[facet]!, misses))
          ofValue[facet].addTo(found, value);
      } else {
        // All conditions must hold for the same GP.
        const { all, misses: missed } = gps.find(filter);
        misses.push(...missed);
        if (isLong(countBits(all), recordsOfGp.starts.length - 1))
          found.sets.push(recordsOfMany(filter, all));
        else addLists(found.own, recordsOfGp, all);
      }
      return { ...inRanks([found.sets.filter((set) => set.isTouched)]), misses };
    },
  };
}

/** Maximum total length of the lists that `openRecordLists` keeps, in entries per link of a GP to a record. */
const entriesOfLink = 2;

/**
 * Opens the records of the GPs with each word or value. They are kept after the first use: as a set if many GPs have
 * the word or value, otherwise as a list. A GP has about a dozen words and values, so there are at most about 1,500
 * sets. Lists are kept because following a thousand GPs to their records takes 50 µs. All lists are dropped once they
 * are too large together.
 */
function openRecordLists(lists: readonly Lists[], { starts, items }: Lists, count: number) {
  const sets = new Map<number, Bitset>();
  const rare = new Map<number, Uint32Array>();
  const roomInAll = items.length * entriesOfLink;
  let room = roomInAll;

  const gpsOf = (number: number): number[] =>
    lists.flatMap((list) => [...list.items.subarray(list.starts[number], list.starts[number + 1])]);

  const makeSet = (number: number): Bitset =>
    keptSet(count, (set) => {
      for (const gp of gpsOf(number)) addBits(set, items, starts[gp]!, starts[gp + 1]!);
    });

  function makeList(number: number): Uint32Array {
    const made = gpsOf(number).flatMap((gp) => [...items.subarray(starts[gp], starts[gp + 1])]);
    room -= made.length;
    if (room < 0) {
      rare.clear();
      room = roomInAll - made.length;
    }
    return Uint32Array.from(made);
  }

  return {
    addTo(union: Union, number: number): void {
      let length = 0;
      for (const list of lists) length += list.starts[number + 1]! - list.starts[number]!;
      if (isLong(length, starts.length - 1)) {
        union.sets.push(getOrCompute(sets, number, makeSet));
        return;
      }
      const records = getOrCompute(rare, number, makeList);
      addBits(union.own, records, 0, records.length);
    },
  };
}
