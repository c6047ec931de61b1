/** Finds the principals, signals or projects of the GPs that satisfy a filter. */
import { eachOf, type LinkedKind } from "#records/kinds.ts";
import { fold } from "#records/fold.ts";
import { addBits, type Bitset, forEachBit, isTouched, keepCount, makeBitset } from "./bitset.ts";
import { type DatasetParts, documentCount, facetNames } from "./dataset-parts.ts";
import { askedValues, type Miss } from "./facet-index.ts";
import { type Found, type GpFilter, type GpSearch, missedName } from "./gp-search.ts";
import { emptyUnion, isLong, type Lists, makeUnion } from "./lists.ts";
import { forEachWord, matchWord } from "./match-names.ts";

export function openLinkedSearch(parts: DatasetParts, gps: GpSearch, kind: LinkedKind) {
  const gpCount = documentCount(parts.documents.gp);
  const count = documentCount(parts.documents[kind]);
  const { starts, items } = parts.recordsOfGp[kind];
  const union = makeUnion(count);
  const follow = (gp: number, into: Bitset) => addBits(into, items, starts[gp]!, starts[gp + 1]!);

  /**
   * Opens the records of all GPs of a word or a value. If many GPs have it, they are kept as a set from their first use on:
   * a GP has a dozen words and values, so there are some hundred sets.
   */
  function openSets(lists: readonly Lists[]) {
    const sets = new Map<number, Bitset>();
    const followAll = (number: number, into: Bitset) => {
      for (const list of lists)
        for (let i = list.starts[number]!; i < list.starts[number + 1]!; i++)
          follow(list.items[i]!, into);
    };
    const makeSet = (number: number) => {
      const set = makeBitset(count);
      followAll(number, set);
      keepCount(set);
      return set;
    };
    return {
      addToUnion(number: number): void {
        let length = 0;
        for (const list of lists) length += list.starts[number + 1]! - list.starts[number]!;
        if (isLong(length, gpCount)) union.sets.push(sets.getOrInsertComputed(number, makeSet));
        else followAll(number, union.own);
      },
    };
  }

  const { first, later } = parts.names.gpsOfWord;
  const ofWord = openSets([first, later]);
  const ofValue = eachOf(facetNames, (name) => openSets([parts.facets[name].gpsOfValue]));

  return {
    /** @param filter has a name or a facet. */
    find(filter: GpFilter): Found {
      const { gp_name: name } = filter;
      const folded = name === undefined ? "" : fold(name);
      const facets = facetNames.filter((facet) => (filter[facet] ?? []).length > 0);
      const [facet] = facets;
      const misses: Miss[] = [];
      emptyUnion(union);
      if (name === undefined && facets.length === 1) {
        const missed = { kind: "gp", parameter: facet! } as const;
        const values = askedValues(parts.facets[facet!], missed, filter[facet!]!, misses);
        for (const value of values) ofValue[facet!].addToUnion(value);
      } else if (facet === undefined && folded !== "" && !folded.includes(" ")) {
        // Only one word is like a value: several must be in the same name, and the id of a GP folds to two.
        const match = matchWord(parts.names, folded);
        forEachWord(match, ofWord.addToUnion);
        if (match.gpCount === 0) misses.push(missedName(name!, folded));
      } else {
        // All parts must hold for the same GP of a record.
        const found = gps.find(filter);
        forEachBit(found.all, (gp) => follow(gp, union.own));
        misses.push(...found.misses);
      }
      const all = { some: union.sets.filter(isTouched), each: [], but: [] };
      return { all, ranks: [all], misses };
    },
  };
}
