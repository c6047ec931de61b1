/** Writes the GPs of a draft with all they can be found by: names, tags, themes, markets. */
import type { DatabaseSync } from "node:sqlite";
import type { GpLink } from "#records/common.ts";
import { fold } from "#records/fold.ts";
import { spellingsOfMarket } from "#search/market-spellings.ts";
import type { FacetName } from "#search/read-model.ts";
import type { Body, DocumentWriter } from "./document-writer.ts";
import { formerIdsOf } from "./former-ids.ts";
import { renderRecord, type Inherited } from "./render.ts";

/** What the records that link to a GP need to know of it. */
export interface WrittenGp extends Inherited {
  position: number;
  link: GpLink;
}

/** GPs by source and the source's own id, see `sourceKey`. */
export type WrittenGps = ReadonlyMap<string, WrittenGp>;

export const sourceKey = (source: string, sourceId: string) => `${source}\n${sourceId}`;

export function writeGps(draft: DatabaseSync, writer: DocumentWriter): WrittenGps {
  const formerIds = formerIdsOf(draft);
  const find = openFindWriter(draft);
  const gps = new Map<string, WrittenGp>();
  for (const row of writer.rows("gp")) {
    const { position, publicId, body } = row;
    const replaced = { id: publicId, former_ids: formerIds.get(publicId) ?? [] };
    writer.write("gp", row, renderRecord("gp", body, replaced, null, null));
    find(position, body);
    gps.set(sourceKey(row.source, row.sourceId), {
      position,
      link: { id: publicId, name: body["name"] as string },
      tags: listOf(body, "tags"),
      themes: listOf(body, "themes"),
      markets: listOf(body, "markets"),
    });
  }
  return gps;
}

const listOf = (body: Body, member: string) => (body[member] ?? []) as string[];

/** Name, legal name and aliases of a GP, each once, in this order. */
export const namesOf = (body: Body): ReadonlySet<string> =>
  new Set([body["name"], body["legal_name"] ?? [], listOf(body, "aliases")].flat() as string[]);

/** What a GP is found by under each parameter, each value once. */
export const facetsOf = (body: Body): Readonly<Record<FacetName, ReadonlySet<string>>> => ({
  tag: new Set(["tags", "strategies", "property_types"].flatMap((member) => listOf(body, member))),
  theme: new Set(listOf(body, "themes")),
  market: new Set(listOf(body, "markets")),
});

/** Writes what one GP is found by. */
function openFindWriter(draft: DatabaseSync): (gp: number, body: Body) => void {
  const nameRow = draft.prepare("insert into gp_name values (?, ?, ?)");
  const facetRow = draft.prepare("insert into facet values (?, ?, ?, ?)");
  const spellingRow = draft.prepare("insert into market_spelling values (?, ?, ?)");
  const spelled = new Set<string>();
  return (gp, body) => {
    const position = BigInt(gp);
    for (const name of namesOf(body)) nameRow.run(position, name, fold(name));
    for (const [parameter, values] of Object.entries(facetsOf(body)))
      for (const value of values) facetRow.run(parameter, fold(value), value, position);
    for (const market of listOf(body, "markets")) {
      if (spelled.has(market)) continue;
      spelled.add(market);
      for (const { folded, shown } of spellingsOfMarket(market))
        spellingRow.run(market, folded, shown);
    }
  };
}
