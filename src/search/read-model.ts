/** One dataset in memory: answers which records satisfy a query, how many, and in what order. */
import { fold } from "#records/fold.ts";
import {
  addBits,
  addSet,
  type Bitset,
  clear,
  countBits,
  forEachBit,
  makeBitset,
  pageOfBits,
} from "./bitset.ts";
import type { DatasetParts, LinkedKind } from "./dataset-parts.ts";
import { documentCount } from "./documents.ts";
import { type GpFilter, hasFacets, type Miss, openGpSearch } from "./gp-search.ts";
import type { Lists } from "./lists.ts";
import { matchWord, type WordMatch } from "./match-names.ts";
import type { NameIndex } from "./name-index.ts";
import { suggest } from "./suggestions.ts";

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
    principal: openKind(parts, "principal"),
    signal: openKind(parts, "signal"),
    project: openKind(parts, "project"),
  };
  let isClosed = false;
  const requireOpen = () => {
    if (isClosed)
      throw new Error(`The dataset ${parts.version} was replaced, and its memory is given back.`);
  };
  return {
    get parts() {
      requireOpen();
      return parts;
    },
    close: () => void (isClosed = true),
    selectGps(filter, bounds) {
      requireOpen();
      const misses = gps.find(filter);
      gps.keepBest();
      return pageOf(gps.sets, bounds, misses);
    },
    selectLinked(kind, filter, bounds) {
      requireOpen();
      const { count, found, addOfGps, addOfWords } = linked[kind];
      if (filter.name === undefined && !hasFacets(filter)) return pageOfAll(count, bounds);
      clear(found);
      const word = onlyWordOf(filter);
      if (word === undefined) {
        const misses = gps.find(filter);
        for (const set of gps.sets) addOfGps(found, set);
        return pageOf([found], bounds, misses);
      }
      const match = matchWord(parts.names, word);
      addOfWords(found, match);
      const miss: Miss = { parameter: "gp_name", value: filter.name!, folded: word };
      return pageOf([found], bounds, match.gpCount > 0 ? [] : [miss]);
    },
    suggestionsFor({ parameter, folded }) {
      requireOpen();
      if (folded === "") return [];
      const known =
        parameter === "gp_name" ? parts.nameSuggestions : parts.facets[parameter].suggestions;
      return suggest(known, folded);
    },
  };
}

function openKind({ documents, names, recordsOfGp }: DatasetParts, kind: LinkedKind) {
  const count = documentCount(documents[kind]);
  const records = openLinkedRecords(recordsOfGp[kind], names.gpsOfWord, count);
  return { count, found: makeBitset(count), ...records };
}

/** The one folded word that is all a filter asks for; the id of a GP folds to two. */
function onlyWordOf(filter: GpFilter): string | undefined {
  if (filter.name === undefined || hasFacets(filter)) return undefined;
  const folded = fold(filter.name);
  return folded === "" || folded.includes(" ") ? undefined : folded;
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

function pageOfAll(total: number, { limit, offset }: Bounds): Selection {
  const positions: number[] = [];
  for (let at = offset; at < Math.min(total, offset + limit); at++) positions.push(at);
  return { total, positions, misses: [] };
}

/** From GPs, or from words of their names, to their records of one kind. */
interface LinkedRecords {
  /** Adds the records of the GPs. */
  addOfGps(records: Bitset, gps: Bitset): void;
  /** Adds the records of all GPs that have one of the words in a name. */
  addOfWords(records: Bitset, words: Pick<WordMatch, "from" | "to" | "inside">): void;
}

/** Where more than one GP in so many has a word, adding a set of their records is faster than following each GP. */
const gpsOfCommonWord = 128;

/** @param recordCount how many records of the kind there are. */
function openLinkedRecords(
  recordsOfGp: Lists,
  { first, later }: NameIndex["gpsOfWord"],
  recordCount: number,
): LinkedRecords {
  const { starts, items } = recordsOfGp;
  const gpCount = starts.length - 1;
  // Built on first use. A GP has about eight words, so there are at most a thousand common ones.
  const ofCommonWord = new Map<number, Bitset>();

  function follow(records: Bitset, word: number): void {
    for (const { starts: from, items: gps } of [first, later])
      for (let i = from[word]!; i < from[word + 1]!; i++)
        addBits(records, items, starts[gps[i]!]!, starts[gps[i]! + 1]!);
  }

  function addOfWord(records: Bitset, word: number): void {
    const gps = lengthOf(first, word) + lengthOf(later, word);
    if (gps * gpsOfCommonWord <= gpCount) return follow(records, word);
    let known = ofCommonWord.get(word);
    if (known === undefined) {
      known = makeBitset(recordCount);
      follow(known, word);
      ofCommonWord.set(word, known);
    }
    addSet(records, known);
  }

  return {
    addOfGps(records, gps) {
      forEachBit(gps, (gp) => addBits(records, items, starts[gp]!, starts[gp + 1]!));
    },
    addOfWords(records, { from, to, inside }) {
      for (let word = from; word < to; word++) addOfWord(records, word);
      for (const word of inside) addOfWord(records, word);
    },
  };
}

const lengthOf = ({ starts }: Lists, list: number) => starts[list + 1]! - starts[list]!;
