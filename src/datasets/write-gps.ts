/** Writes the GPs of a draft with what they are found by: names and facets. */
import type { DatabaseSync } from "node:sqlite";
import { fold } from "#records/fold.ts";
import type { FacetName } from "#search/dataset-parts.ts";
import { spellingsOfMarket } from "#search/market-spellings.ts";
import type { DocumentWriter } from "./document-writer.ts";
import { type DraftRecord, eachOnce } from "./draft-record.ts";
import { linkJson, renderGp } from "./render.ts";
import { openRowWriter } from "./rows.ts";
import type { TextStore } from "./text-store.ts";

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

/** @param formerIds of each GP that has any. */
export function writeGps(
  draft: DatabaseSync,
  writer: DocumentWriter,
  texts: TextStore,
  records: DraftRecord[],
  formerIds: ReadonlyMap<string, readonly string[]>,
): WrittenGps {
  const find = openFindWriter(draft);
  const gps = new Map<string, Map<string, WrittenGp>>();
  writer.write("gp", records, ({ id, source, sourceId, own: kept }, position) => {
    const own = texts.textOf(kept);
    const gp = JSON.parse(`{${own}}`) as Body;
    find.add(position, gp);
    if (!gps.has(source)) gps.set(source, new Map());
    gps.get(source)!.set(sourceId, writtenGp(id, position, gp));
    return renderGp(id, formerIds.get(id) ?? [], own);
  });
  find.end();
  return gps;
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
  const spelled = new Set<string>();
  const foldOnce = rememberedFold();
  return {
    add(gp: number, body: Body) {
      for (const name of namesOf(body)) nameRows.add(gp, name, fold(name));
      for (const [parameter, values] of Object.entries(facetsOf(body)))
        for (const value of values) facetRows.add(parameter, foldOnce(value), value, gp);
      for (const market of listOf(body, "markets")) {
        if (spelled.has(market)) continue;
        spelled.add(market);
        for (const { folded, shown } of spellingsOfMarket(market))
          spellingRows.add(market, folded, shown);
      }
    },
    end() {
      nameRows.end();
      facetRows.end();
      spellingRows.end();
    },
  };
}

/** The same few hundred values occur again and again. */
function rememberedFold(): (text: string) => string {
  const folded = new Map<string, string>();
  return (text) => {
    const known = folded.get(text);
    if (known !== undefined) return known;
    const value = fold(text);
    folded.set(text, value);
    return value;
  };
}
