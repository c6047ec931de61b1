/** Makes from the tables of a generation what its records are found by. */
import type { DatabaseSync } from "node:sqlite";
import { placeDocuments, type DocumentPlaces } from "#search/documents.ts";
import { indexFacet, type FacetIndex } from "#search/facet-index.ts";
import { indexIds, type IdIndex } from "#search/id-index.ts";
import { packLists, type Lists } from "#search/lists.ts";
import { indexNames } from "#search/name-index.ts";
import {
  facetNames,
  linkedKinds,
  type DatasetIndex,
  type FacetName,
  type LinkedKind,
} from "#search/dataset-parts.ts";
import { indexSuggestions } from "#search/index-suggestions.ts";

export function indexTables(db: DatabaseSync): DatasetIndex {
  const names = readNames(db);
  const documents = forEach(["gp", ...linkedKinds], (kind) => readPlaces(db, kind));
  const gpCount = documents.gp.ownLengths.length;
  return {
    documents,
    names: indexNames(
      names.map(({ folded }) => folded),
      names.map(({ gp }) => gp),
      gpCount,
    ),
    nameSuggestions: indexSuggestions(eachNameOnce(names)),
    facets: forEach(facetNames, (facet) => readFacet(db, facet)),
    ids: readIds(db),
    recordsOfGp: forEach(linkedKinds, (kind) => readLinks(db, kind, gpCount)),
  };
}

const forEach = <K extends string, V>(keys: readonly K[], make: (key: K) => V) =>
  Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, V>;

/** Rows as arrays, all at once: at this many, objects or an iterator cost twice the time. */
function rowsOf<Row extends readonly unknown[]>(
  db: DatabaseSync,
  sql: string,
  ...values: string[]
): Row[] {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement.all(...values) as unknown as Row[];
}

function readPlaces(db: DatabaseSync, kind: "gp" | LinkedKind): DocumentPlaces {
  const rows = rowsOf<[length: number, ownLength: number]>(
    db,
    `select octet_length(document), own_length from ${kind} order by position`,
  );
  return placeDocuments(
    rows.map(([length]) => length),
    rows.map(([, ownLength]) => ownLength),
  );
}

interface Name {
  gp: number;
  shown: string;
  folded: string;
}

/** GP by GP, and within a GP as they were written: name, legal name, aliases. */
const readNames = (db: DatabaseSync): Name[] =>
  rowsOf<[gp: number, shown: string, folded: string]>(
    db,
    "select gp, name, folded from gp_name order by rowid",
  ).map(([gp, shown, folded]) => ({ gp, shown, folded }));

function eachNameOnce(names: readonly Name[]): Name[] {
  const seen = new Set<string>();
  return names.filter(({ shown }) => seen.size < seen.add(shown).size);
}

function readFacet(db: DatabaseSync, facet: FacetName): FacetIndex {
  const spellings =
    facet === "market"
      ? "select market, folded, shown from market_spelling"
      : `select distinct shown, folded, shown from facet where parameter = '${facet}'`;
  return indexFacet(
    rowsOf<[value: string, folded: string, shown: string]>(db, spellings).map(
      ([value, folded, shown]) => ({ value, folded, shown }),
    ),
    rowsOf(db, "select shown, gp from facet where parameter = ? order by rowid", facet),
  );
}

const readIds = (db: DatabaseSync): IdIndex =>
  indexIds(
    rowsOf<[id: string, gp: number]>(
      db,
      `select id, position from gp
       union all select f.former_id, gp.position from former_id f join gp on gp.id = f.gp_id`,
    ).map(([id, gp]) => ({ id, gp })),
  );

function readLinks(db: DatabaseSync, kind: LinkedKind, gpCount: number): Lists {
  const rows = rowsOf<[gp: number, record: number]>(
    db,
    "select gp, record from link where kind = ? order by rowid",
    kind,
  );
  return packLists(
    gpCount,
    rows.map(([gp]) => gp),
    rows.map(([, record]) => record),
  );
}
