/** Counts what the documents of a generation call for in its other tables, and whether it is there. */
import type { DatabaseSync } from "node:sqlite";
import { recordKinds, type RecordKind } from "#records/canonical.ts";
import { spellingsOfMarket } from "#search/market-spellings.ts";
import { linkedKinds } from "#search/read-model.ts";
import type { Body } from "./document-writer.ts";
import { facetsOf, namesOf } from "./write-gps.ts";

export interface Tally {
  /** @param record a document as it is served. */
  add(kind: RecordKind, record: Body): void;
  /** Name of a table that lacks rows, or has some that lead nowhere; undefined where there is none. */
  firstWrongTable(db: DatabaseSync): string | undefined;
}

export function openTally(): Tally {
  const records = { gp: 0, principal: 0, signal: 0, project: 0 };
  const links = { principal: 0, signal: 0, project: 0 };
  const markets = new Set<string>();
  let formerIds = 0;
  let names = 0;
  let facets = 0;
  const addGp = (gp: Body) => {
    const { tag, theme, market } = facetsOf(gp);
    formerIds += (gp["former_ids"] as string[]).length;
    names += namesOf(gp).size;
    facets += tag.size + theme.size + market.size;
    for (const one of market) markets.add(one);
  };
  /** Each table as it stands, and again joined with what its rows lead to: how many rows there must be. */
  const expected = (): [table: string, rows: number, joined?: string][] => [
    ["canonical", sum(records), "join source on source.name = t.source"],
    ...recordKinds.map((kind): [string, number, string] => [
      kind,
      records[kind],
      "join canonical c on c.public_id = t.id and c.source = t.source",
    ]),
    ["gp_name", names, "join gp on gp.position = t.gp"],
    ["facet", facets, "join gp on gp.position = t.gp"],
    ["market_spelling", sum([...markets].map((market) => spellingsOfMarket(market).length))],
    ["link", sum(links)],
  ];
  return {
    add(kind, record) {
      records[kind]++;
      if (kind === "gp") addGp(record);
      else links[kind] += (record["gps"] as unknown[]).length;
    },
    firstWrongTable(db) {
      const count = (from: string) =>
        Number(db.prepare(`select count(*) as n from ${from}`).get()!["n"]);
      const wrong = expected().find(
        ([table, rows, joined = ""]) =>
          count(table) !== rows || count(`${table} t ${joined}`) !== rows,
      );
      if (wrong !== undefined) return wrong[0];
      if (count("former_id t join gp on gp.id = t.gp_id") !== formerIds) return "former_id";
      const isLinked = linkedKinds.every((kind) => count(linksOf(kind)) === links[kind]);
      return isLinked ? undefined : "link";
    },
  };
}

/** Links that lead from a record to a GP its document names. */
const linksOf = (kind: RecordKind) =>
  `link t join gp on gp.position = t.gp join ${kind} r on r.position = t.record
   where t.kind = '${kind}' and instr(r.document, gp.id) > 0`;

const sum = (counts: object) => Object.values(counts).reduce((a: number, b: number) => a + b, 0);
