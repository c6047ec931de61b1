/** Gathers what the documents of a generation call for in its other tables, and tells whether it is there. */
import type { DatabaseSync } from "node:sqlite";
import { spellingsOfMarket } from "#search/market-spellings.ts";
import type { LinkedKind } from "#search/dataset-parts.ts";
import { batchesOf } from "./rows.ts";
import { facetsOf, namesOf, type Body } from "./write-gps.ts";

/** To be given all documents as they are served, kind by kind in the order in which they were written. */
export interface Tally {
  addGp(id: string, gp: Body): void;
  addLinked(kind: LinkedKind, position: number, document: string): void;
  /** Name of a table that lacks rows, or has some that lead nowhere; undefined where there is none. */
  firstWrongTable(db: DatabaseSync): string | undefined;
}

type Link = readonly [rowid: number, kind: string, record: number, gp: number];

export function openTally(): Tally {
  const positionOfGp = new Map<string, number>();
  const markets = new Set<string>();
  /** Kind, record and GP of each link, one after the other. */
  const links: (string | number)[] = [];
  let formerIds = 0;
  let names = 0;
  let facets = 0;
  const areLinks = (db: DatabaseSync) => {
    let at = 0;
    const sql = "select rowid, kind, record, gp from link where rowid >= ? order by rowid limit ?";
    for (const batch of batchesOf<Link>(db, sql))
      for (const [, kind, record, gp] of batch)
        if (kind !== links[at++] || record !== links[at++] || gp !== links[at++]) return false;
    return at === links.length;
  };
  return {
    addGp(id, gp) {
      positionOfGp.set(id, positionOfGp.size);
      formerIds += (gp["former_ids"] as string[]).length;
      names += namesOf(gp).length;
      const { tag, theme, market } = facetsOf(gp);
      facets += tag.length + theme.length + market.length;
      for (const one of market) markets.add(one);
    },
    addLinked(kind, position, document) {
      for (const id of gpIdsIn(document)) links.push(kind, position, positionOfGp.get(id) ?? -1);
    },
    firstWrongTable(db) {
      if (count(db, "(select source from canonical except select name from source)") !== 0)
        return "source";
      if (count(db, "market_spelling") !== spellingsOf(markets)) return "market_spelling";
      if (count(db, "former_id f join gp on gp.id = f.gp_id") !== formerIds) return "former_id";
      if (!haveGps(db, "gp_name", names, positionOfGp.size)) return "gp_name";
      if (!haveGps(db, "facet", facets, positionOfGp.size)) return "facet";
      return areLinks(db) ? undefined : "link";
    },
  };
}

function count(db: DatabaseSync, from: string): number {
  return Number(db.prepare(`select count(*) as n from ${from}`).get()!["n"]);
}

const spellingsOf = (markets: ReadonlySet<string>) =>
  [...markets].reduce((sum, market) => sum + spellingsOfMarket(market).length, 0);

/** Are there so many rows in the table, each about a GP that is there? */
function haveGps(db: DatabaseSync, table: string, rows: number, gps: number): boolean {
  const { n, least, greatest } = db
    .prepare(`select count(*) as n, min(gp) as least, max(gp) as greatest from ${table}`)
    .get()! as Record<string, number>;
  return n === rows && (n === 0 || (least! >= 0 && greatest! < gps));
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
