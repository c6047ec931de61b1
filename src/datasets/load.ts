/** Reads a generation into the arrays of the read model; runs in a worker. */
import type { DatabaseSync } from "node:sqlite";
import type { RecordKind } from "#records/canonical.ts";
import { packDocuments, type Documents } from "#search/documents.ts";
import { embedInGps } from "#search/embed.ts";
import { indexFacet, type FacetEntry, type FacetIndex } from "#search/facet-index.ts";
import { indexIds } from "#search/id-index.ts";
import { indexNames } from "#search/name-index.ts";
import { facetNames, linkedKinds, type DatasetParts, type LinkedKind } from "#search/read-model.ts";
import { packLists, type Lists } from "#search/shared-arrays.ts";
import { indexSuggestions } from "#search/suggestions.ts";
import type { Generation } from "./catalogue.ts";
import { openPublished } from "./open-generation.ts";

/**
 * @param path file of the generation.
 * @param expected what the catalogue says of it.
 * @throws DatasetFault where the file is not the one that was published, or cannot be read.
 */
export function loadGeneration(path: string, expected: Generation): DatasetParts {
  const { db, meta } = openPublished(path, expected);
  try {
    const gpCount = expected.records.gp;
    const names = readNames(db);
    const recordsOfGp = readLinks(db, gpCount);
    const principals = readDocuments(db, "principal", expected.records.principal);
    const signals = readDocuments(db, "signal", expected.records.signal);
    return {
      version: meta.version,
      updatedAt: meta.built_at,
      documents: {
        gp: embedInGps(readDocuments(db, "gp", gpCount), [
          { member: "principals", documents: principals, recordsOfGp: recordsOfGp.principal },
          { member: "signals", documents: signals, recordsOfGp: recordsOfGp.signal },
        ]),
        principal: principals,
        signal: signals,
        project: readDocuments(db, "project", expected.records.project),
      },
      names: indexNames(
        names.map(({ folded }) => folded),
        names.map(({ gp }) => gp),
      ),
      nameSuggestions: indexSuggestions(eachNameOnce(names)),
      facets: readFacets(db),
      ids: indexIds(readIds(db)),
      recordsOfGp,
    };
  } finally {
    db.close();
  }
}

/** Rows as arrays, all at once: at this many, objects or an iterator cost twice the time. */
function arraysOf(db: DatabaseSync, sql: string, ...values: (string | bigint)[]) {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement.all(...values) as unknown as (readonly unknown[])[];
}

function readDocuments(db: DatabaseSync, kind: RecordKind, count: number): Documents {
  const size = db
    .prepare(`select coalesce(sum(octet_length(document)), 0) as n from ${kind}`)
    .get()!;
  return packDocuments(count, Number(size["n"]), eachDocument(db, kind, count));
}

/** Few enough that the texts of a batch are forgotten before they are old. */
const batchSize = 1000;

function* eachDocument(db: DatabaseSync, kind: RecordKind, count: number) {
  const sql = `select document, own_length from ${kind} where position between ? and ? order by position`;
  for (let from = 0; from < count; from += batchSize)
    for (const [json, ownLength] of arraysOf(db, sql, BigInt(from), BigInt(from + batchSize - 1)))
      yield { json: json as string, ownLength: ownLength as number };
}

interface NameRow {
  gp: number;
  shown: string;
  folded: string;
}

/** GP by GP, and within a GP as they were written: name, legal name, aliases. */
function readNames(db: DatabaseSync): NameRow[] {
  return Array.from(
    arraysOf(db, "select gp, name, folded from gp_name order by rowid"),
    ([gp, shown, folded]) => ({
      gp: gp as number,
      shown: shown as string,
      folded: folded as string,
    }),
  );
}

function eachNameOnce(names: readonly NameRow[]): NameRow[] {
  const seen = new Set<string>();
  return names.filter(({ shown }) => seen.size < seen.add(shown).size);
}

function readFacets(db: DatabaseSync): Record<(typeof facetNames)[number], FacetIndex> {
  return {
    tag: indexFacet(readFacet(db, "tag")),
    theme: indexFacet(readFacet(db, "theme")),
    market: indexFacet(readMarkets(db)),
  };
}

function readFacet(db: DatabaseSync, parameter: string): FacetEntry[] {
  return entriesOf(
    arraysOf(db, "select folded, shown, gp from facet where parameter = ? order by gp", parameter),
  );
}

function readMarkets(db: DatabaseSync): FacetEntry[] {
  return entriesOf(
    arraysOf(
      db,
      `select s.folded, s.shown, f.gp from facet f
       join market_spelling s on s.market = f.shown
       where f.parameter = 'market' order by f.gp`,
    ),
  );
}

const entriesOf = (rows: Iterable<readonly unknown[]>): FacetEntry[] =>
  Array.from(rows, ([folded, shown, gp]) => ({
    folded: folded as string,
    shown: shown as string,
    gp: gp as number,
  }));

function readIds(db: DatabaseSync): { id: string; gp: number }[] {
  const rows = arraysOf(
    db,
    `select id, position from gp
     union all select f.former_id, gp.position from former_id f join gp on gp.id = f.gp_id`,
  );
  return Array.from(rows, ([id, gp]) => ({ id: id as string, gp: gp as number }));
}

function readLinks(db: DatabaseSync, gpCount: number): Record<LinkedKind, Lists> {
  const listsOf = (kind: LinkedKind) => {
    const gps: number[] = [];
    const records: number[] = [];
    const rows = arraysOf(db, "select gp, record from link where kind = ? order by record", kind);
    for (const [gp, record] of rows) {
      gps.push(gp as number);
      records.push(record as number);
    }
    return packLists(gpCount, gps, records);
  };
  return Object.fromEntries(linkedKinds.map((kind) => [kind, listsOf(kind)])) as Record<
    LinkedKind,
    Lists
  >;
}
