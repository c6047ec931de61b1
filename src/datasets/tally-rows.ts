/** Gathers what the documents of a generation call for in its other tables, and tells whether it is there. */
import type { DatabaseSync } from "node:sqlite";
import { spellingsOfMarket } from "#search/market-spellings.ts";
import { linkedKinds, type LinkedKind } from "#search/read-model.ts";
import { arraysOf } from "./rows.ts";
import { facetsOf, namesOf, type Body } from "./write-gps.ts";

/** To be given all documents in display order, the GPs first. */
export interface Tally {
  /** @param gp a document as it is served. */
  addGp(id: string, gp: Body): void;
  addLinked(kind: LinkedKind, document: string): void;
  /** Name of a table that lacks rows, or has some that lead nowhere; undefined where there is none. */
  firstWrongTable(db: DatabaseSync): string | undefined;
}

export function openTally(): Tally {
  const positionOfGp = new Map<string, number>();
  const markets = new Set<string>();
  const links = { principal: openLinkList(), signal: openLinkList(), project: openLinkList() };
  let formerIds = 0;
  let names = 0;
  let facets = 0;
  /** Rows that must be there, and from what they are counted. */
  const expected = (): [table: string, rows: number, from: string][] => [
    ["source", 0, "(select source from canonical except select name from source)"],
    [
      "market_spelling",
      sum([...markets].map((market) => spellingsOfMarket(market).length)),
      "market_spelling",
    ],
    ["former_id", formerIds, "former_id f join gp on gp.id = f.gp_id"],
    ["link", sum(linkedKinds.map((kind) => links[kind].pairs.length / 2)), "link"],
  ];
  return {
    addGp(id, gp) {
      positionOfGp.set(id, positionOfGp.size);
      formerIds += (gp["former_ids"] as string[]).length;
      names += namesOf(gp).size;
      const { tag, theme, market } = facetsOf(gp);
      facets += tag.size + theme.size + market.size;
      for (const one of market) markets.add(one);
    },
    addLinked(kind, document) {
      links[kind].add(gpIdsIn(document).map((id) => positionOfGp.get(id) ?? -1));
    },
    firstWrongTable(db) {
      const wrong = expected().find(([, rows, from]) => count(db, from) !== rows);
      if (wrong !== undefined) return wrong[0];
      if (!haveGps(db, "gp_name", names, positionOfGp.size)) return "gp_name";
      if (!haveGps(db, "facet", facets, positionOfGp.size)) return "facet";
      return linkedKinds.every((kind) => links[kind].isIn(db, kind)) ? undefined : "link";
    },
  };
}

const count = (db: DatabaseSync, from: string) =>
  Number(db.prepare(`select count(*) as n from ${from}`).get()!["n"]);

/** Are there so many rows in the table, each about a GP that is there? */
function haveGps(db: DatabaseSync, table: string, rows: number, gps: number): boolean {
  const { n, least, greatest } = db
    .prepare(`select count(*) as n, min(gp) as least, max(gp) as greatest from ${table}`)
    .get()! as Record<string, number>;
  return n === rows && (n === 0 || (least! >= 0 && greatest! < gps));
}

/** The links of one kind: positions of a record and of a GP, over and over. */
function openLinkList() {
  const pairs: number[] = [];
  let record = 0;
  return {
    pairs,
    add(gps: readonly number[]) {
      for (const gp of gps) pairs.push(record, gp);
      record++;
    },
    /** Each link where it belongs: the rows have the order of the documents. */
    isIn(db: DatabaseSync, kind: LinkedKind): boolean {
      let at = 0;
      const sql = "select record, gp from link where kind = ? order by rowid";
      for (const [linked, gp] of arraysOf(db, sql, kind))
        if (linked !== pairs[at++] || gp !== pairs[at++]) return false;
      return at === pairs.length;
    },
  };
}

const gpsMember = '"gps":[';
const idMember = '{"id":"';
const idLength = 19;

/** Ids in the list a document ends with. No text in it can look like a member: quotes in a text are escaped. */
function gpIdsIn(document: string): string[] {
  const ids: string[] = [];
  let at = document.lastIndexOf(gpsMember);
  while ((at = document.indexOf(idMember, at)) >= 0) {
    at += idMember.length;
    ids.push(document.slice(at, at + idLength));
  }
  return ids;
}

const sum = (counts: readonly number[]) => counts.reduce((a, b) => a + b, 0);
