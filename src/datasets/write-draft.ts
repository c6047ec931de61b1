/** Writes the file of a generation: its records and their indexes. */
import { DatabaseSync } from "node:sqlite";
import { foldVersion } from "#records/fold.ts";
import {
  type DatasetIndex,
  type FacetName,
  facetNames,
  type LinkedKind,
  linkedKinds,
} from "#search/dataset-parts.ts";
import { type DocumentPlaces, placeDocuments } from "#search/documents.ts";
import { type FacetIndex, indexFacet } from "#search/facet-index.ts";
import { type IdIndex, indexIds } from "#search/id-index.ts";
import { indexSuggestions } from "#search/index-suggestions.ts";
import { type Lists, packLists } from "#search/lists.ts";
import { indexNames } from "#search/name-index.ts";
import { datasetHash } from "./dataset-hash.ts";
import { type Changes, type DocumentWriter, openDocumentWriter } from "./document-writer.ts";
import { type DraftRecords, eachOnce } from "./draft-record.ts";
import { draftPragmas, formatVersion, indexes, type Meta, tables, versionOf } from "./format.ts";
import { formerIdsByGp } from "./former-ids.ts";
import type { Previous } from "./previous.ts";
import { renderLinked } from "./render.ts";
import { openRowWriter } from "./rows.ts";
import { type Checksums, indexChecksum } from "./served.ts";
import { arraysIn, writeArrays } from "./stored-arrays.ts";
import type { TextStore } from "./text-store.ts";
import { writeGps, type WrittenGp, type WrittenGps } from "./write-gps.ts";

export interface Draft {
  /** All of the generation; the lists are empty afterwards. */
  records: DraftRecords;
  /** Holds their JSON; cleared afterwards. */
  texts: TextStore;
  /** Names, and when an import last changed something of each. */
  sources: Iterable<readonly [name: string, importedAt: string]>;
  /** Former ids with the GPs they lead to. */
  formerIds: ReadonlyMap<string, string>;
  builtAt: string;
}

/**
 * @param path of an empty file.
 * @param previous the generation that changes are counted against.
 * @param onWritten called now and then with the number of records written so far.
 * @returns `meta` null where nothing differs; the file is then incomplete.
 */
export function writeDraft(
  path: string,
  { records, texts, sources, formerIds, builtAt }: Draft,
  previous: Previous,
  onWritten: (records: number) => void,
): { meta: Meta | null; changes: Changes } {
  // In defensive mode SQLite would keep a journal despite the pragma, and a killed import would leave that behind too.
  const db = new DatabaseSync(path, { defensive: false });
  try {
    db.exec(`${draftPragmas}; begin; ${tables}`);
    const writer = openDocumentWriter(db, previous, builtAt, onWritten);
    const gps = writeGps(db, writer, texts, records.gp, formerIdsByGp(formerIds));
    writeLinked(db, writer, texts, records, gps);
    texts.clear();
    const changes = writer.changes();
    if (changes.added + changes.updated + changes.removed === 0) return { meta: null, changes };
    writePairs(db, "source", sources);
    writePairs(db, "former_id", formerIds);
    const checksums = { index_crc32: writeIndex(db), documents_crc32: writer.checksum() };
    const meta = metaOf(datasetHash(writer.contentHash()), builtAt, checksums);
    writePairs(db, "meta", Object.entries(meta));
    db.exec(`commit; ${indexes}`);
    return { meta, changes };
  } finally {
    db.close();
  }
}

function writePairs(
  db: DatabaseSync,
  table: string,
  pairs: Iterable<readonly [string, string]>,
): void {
  const rows = openRowWriter(db, table, 2);
  for (const pair of pairs) rows.add(...pair);
  rows.end();
}

const metaOf = (hash: string, builtAt: string, checksums: Checksums): Meta => ({
  format_version: String(formatVersion),
  fold_version: String(foldVersion),
  version: versionOf(builtAt, hash),
  hash,
  built_at: builtAt,
  ...checksums,
});

/** Writes the principals, projects and signals of a draft with their links to GPs. */
function writeLinked(
  draft: DatabaseSync,
  writer: DocumentWriter,
  texts: TextStore,
  records: DraftRecords,
  gps: WrittenGps,
): void {
  const links = openRowWriter(draft, "link", 3);
  for (const kind of linkedKinds)
    writer.write(kind, records[kind], ({ id, source, own, gps: ids }, position) => {
      const linked = ids.map((gp) => gps.get(source)!.get(gp)!);
      for (const gp of linked) links.add(kind, position, gp.position);
      const lists = kind === "principal" ? inheritedJson(linked) : null;
      return renderLinked(
        id,
        texts.textOf(own),
        lists,
        linked.map(({ linkJson }) => linkJson),
      );
    });
  links.end();
}

function inheritedJson(gps: readonly WrittenGp[]): string {
  const [first, second] = gps;
  if (first !== undefined && second === undefined) return first.listsJson;
  const lists = gps.map(({ listsJson }) => JSON.parse(listsJson) as Inherited);
  const union = (member: keyof Inherited) => eachOnce(lists.flatMap((list) => list[member]));
  return JSON.stringify({
    tags: union("tags"),
    themes: union("themes"),
    markets: union("markets"),
  });
}

/** What a principal inherits from its GPs. */
interface Inherited {
  tags: readonly string[];
  themes: readonly string[];
  markets: readonly string[];
}

/** Builds the indexes from the tables of a generation. */
function indexTables(db: DatabaseSync): DatasetIndex {
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

/** All rows at once, as arrays: for this many, objects or an iterator would take twice as long. */
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

/** @returns the checksum over what was written. */
function writeIndex(draft: DatabaseSync): string {
  const arrays = [...arraysIn(indexTables(draft))];
  writeArrays(draft, arrays);
  return indexChecksum(arrays);
}
