/** Writes the GPs of a draft with what they are found by: names and facets. */
import type { DatabaseSync } from "node:sqlite";
import { fold } from "#records/fold.ts";
import { type FacetName, facetNames } from "#search/dataset-parts.ts";
import type { DocumentPlaces } from "#search/documents.ts";
import { spellingsOfMarket } from "#search/market-spellings.ts";
import type { DocumentWriter } from "./document-writer.ts";
import { type DraftRecord, eachOnce } from "./draft-record.ts";
import { gpFrame, linkJson } from "./render.ts";
import { openRowWriter } from "./rows.ts";
import { ownIn } from "./text-store.ts";

/** A document as it is served, or its own part. */
export type Body = Readonly<Record<string, unknown>>;

/** What records that link to a GP need to know of it. */
export interface WrittenGp {
  position: number;
  /** JSON of the link, as their documents have it. */
  linkJson: string;
  /** JSON of what a principal inherits from it. */
  listsJson: string;
}

/** GPs by source, and by the source's own id. */
export type WrittenGps = ReadonlyMap<string, ReadonlyMap<string, WrittenGp>>;

/** What the GPs of a draft are found by, as its tables have it. */
export interface Findable {
  /** GP by GP, and within a GP: name, legal name, aliases. */
  names: { gps: number[]; shown: string[]; folded: string[] };
  /** In the order of GPs. */
  carriers: Record<FacetName, { values: string[]; gps: number[] }>;
  /** Each value once with its folded form; a market with each of its spellings. */
  spellings: Record<FacetName, { value: string; folded: string; shown: string }[]>;
  /** Position of each GP by its id. */
  positions: Map<string, number>;
}

/** @param formerIds of each GP that has any. */
export function writeGps(
  draft: DatabaseSync,
  writer: DocumentWriter,
  records: DraftRecord[],
  formerIds: ReadonlyMap<string, readonly string[]>,
): { gps: WrittenGps; findable: Findable; places: DocumentPlaces } {
  const find = openFindWriter(draft);
  const gps = new Map<string, Map<string, WrittenGp>>();
  const places = writer.write("gp", records, ({ id, source, sourceId }, position, _, stored) => {
    const gp = JSON.parse(`{${ownIn(stored)}}`) as Body;
    find.add(position, id, gp);
    if (!gps.has(source)) gps.set(source, new Map());
    gps.get(source)!.set(sourceId, writtenGp(id, position, gp));
    return gpFrame(id, formerIds.get(id) ?? []);
  });
  return { gps, findable: find.end(), places };
}

function writtenGp(id: string, position: number, gp: Body): WrittenGp {
  const [tags, themes, markets] = [listOf(gp, "tags"), listOf(gp, "themes"), listOf(gp, "markets")];
  const name = gp["name"] as string;
  return {
    position,
    linkJson: linkJson({ id, name }),
    listsJson: JSON.stringify({ tags, themes, markets }),
  };
}

const listOf = (gp: Body, member: string) => gp[member] as string[];

/** Name, legal name and aliases of a GP, each once, in this order. */
export const namesOf = (gp: Body): readonly string[] =>
  eachOnce([gp["name"] as string, ...legalNameOf(gp), ...listOf(gp, "aliases")]);

const legalNameOf = (gp: Body) => (gp["legal_name"] === null ? [] : [gp["legal_name"] as string]);

/** The values of each facet of a GP, each once. */
export const facetsOf = (gp: Body): Readonly<Record<FacetName, readonly string[]>> => ({
  tag: eachOnce([
    ...listOf(gp, "tags"),
    ...listOf(gp, "strategies"),
    ...listOf(gp, "property_types"),
  ]),
  theme: listOf(gp, "themes"),
  market: listOf(gp, "markets"),
});

/** Writes what GPs are found by. */
function openFindWriter(draft: DatabaseSync) {
  const nameRows = openRowWriter(draft, "gp_name", 3);
  const facetRows = openRowWriter(draft, "facet", 4);
  const spellingRows = openRowWriter(draft, "market_spelling", 3);
  const findable: Findable = {
    names: { gps: [], shown: [], folded: [] },
    carriers: {
      tag: { values: [], gps: [] },
      theme: { values: [], gps: [] },
      market: { values: [], gps: [] },
    },
    spellings: { tag: [], theme: [], market: [] },
    positions: new Map(),
  };
  const { names, carriers, spellings, positions } = findable;
  /** The same few hundred values occur again and again. */
  const folds = new Map<string, string>();
  const spelled = { tag: new Set<string>(), theme: new Set<string>(), market: new Set<string>() };
  const foldOnce = (value: string) => {
    let folded = folds.get(value);
    if (folded === undefined) folds.set(value, (folded = fold(value)));
    return folded;
  };
  const spell = (facet: FacetName, value: string) => {
    spelled[facet].add(value);
    if (facet !== "market") {
      spellings[facet].push({ value, folded: foldOnce(value), shown: value });
      return;
    }
    for (const { folded, shown } of spellingsOfMarket(value)) {
      spellings.market.push({ value, folded, shown });
      spellingRows.add(value, folded, shown);
    }
  };
  return {
    add(gp: number, id: string, body: Body) {
      positions.set(id, gp);
      for (const shown of namesOf(body)) {
        const folded = fold(shown);
        nameRows.add(gp, shown, folded);
        names.gps.push(gp);
        names.shown.push(shown);
        names.folded.push(folded);
      }
      const values = facetsOf(body);
      for (const facet of facetNames)
        for (const value of values[facet]) {
          facetRows.add(facet, foldOnce(value), value, gp);
          carriers[facet].values.push(value);
          carriers[facet].gps.push(gp);
          if (!spelled[facet].has(value)) spell(facet, value);
        }
    },
    end(): Findable {
      nameRows.end();
      facetRows.end();
      spellingRows.end();
      return findable;
    },
  };
}
