/** Writes the file of a generation: its records and their indexes. */
import { DatabaseSync } from "node:sqlite";
import { foldVersion } from "#records/fold.ts";
import {
  type DatasetIndex,
  facetNames,
  type LinkedKind,
  linkedKinds,
} from "#search/dataset-parts.ts";
import type { DocumentPlaces } from "#search/documents.ts";
import { indexFacet } from "#search/facet-index.ts";
import { indexIds } from "#search/id-index.ts";
import { indexSuggestions } from "#search/index-suggestions.ts";
import { packLists } from "#search/lists.ts";
import { indexNames } from "#search/name-index.ts";
import { datasetHash } from "./dataset-hash.ts";
import { type Changes, type DocumentWriter, openDocumentWriter } from "./document-writer.ts";
import { type DraftRecord, type DraftRecords, eachOnce, type StoredLinks } from "./draft-record.ts";
import { draftPragmas, formatVersion, indexes, type Meta, tables, versionOf } from "./format.ts";
import { formerIdsByGp } from "./former-ids.ts";
import type { Previous } from "./previous.ts";
import { linkedFrame } from "./render.ts";
import { openRowWriter } from "./rows.ts";
import { type Checksums, indexChecksum } from "./served.ts";
import { arraysIn, writeArrays } from "./stored-arrays.ts";
import type { TextStore } from "./text-store.ts";
import { type Findable, writeGps, type WrittenGp, type WrittenGps } from "./write-gps.ts";

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
    const writer = openDocumentWriter({ draft: db, previous, texts, builtAt, onWritten });
    const written = writeGps(db, writer, records.gp, formerIdsByGp(formerIds));
    const linked = writeLinked(db, writer, records, written.gps);
    texts.clear();
    const changes = writer.changes();
    if (changes.added + changes.updated + changes.removed === 0) return { meta: null, changes };
    writePairs(db, "source", sources);
    writePairs(db, "former_id", formerIds);
    const index = indexOf(written, linked, formerIds);
    const checksums = { index_crc32: writeIndex(db, index), documents_crc32: writer.checksum() };
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

/** Where the documents of a kind stand, and which GPs they belong to. */
interface WrittenKind {
  places: DocumentPlaces;
  /** Position of the GP and of the record of each link, in the order of records. */
  links: { gps: number[]; records: number[] };
}

/** Writes the principals, projects and signals of a draft with their links to GPs. */
function writeLinked(
  draft: DatabaseSync,
  writer: DocumentWriter,
  records: DraftRecords,
  gps: WrittenGps,
): Record<LinkedKind, WrittenKind> {
  const linkRows = openRowWriter(draft, "link", 3);
  const written = forEach(linkedKinds, (kind) => {
    const links: WrittenKind["links"] = { gps: [], records: [] };
    const frameOf = ({ id, source }: DraftRecord, position: number, { gps: ids }: StoredLinks) => {
      const linked = ids.map((gp) => gps.get(source)!.get(gp)!);
      for (const gp of linked) {
        linkRows.add(kind, position, gp.position);
        links.gps.push(gp.position);
        links.records.push(position);
      }
      const lists = kind === "principal" ? inheritedJson(linked) : null;
      return linkedFrame(
        id,
        lists,
        linked.map(({ linkJson }) => linkJson),
      );
    };
    return { places: writer.write(kind, records[kind], frameOf), links };
  });
  linkRows.end();
  return written;
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

/** Indexes what was written. */
function indexOf(
  { findable, places }: ReturnType<typeof writeGps>,
  linked: Record<LinkedKind, WrittenKind>,
  formerIds: ReadonlyMap<string, string>,
): DatasetIndex {
  const { names, carriers, spellings, positions } = findable;
  const gpCount = positions.size;
  return {
    documents: { gp: places, ...forEach(linkedKinds, (kind) => linked[kind].places) },
    names: indexNames(names.folded, names.gps, gpCount),
    nameSuggestions: indexSuggestions(eachNameOnce(names)),
    facets: forEach(facetNames, (facet) => indexFacet(spellings[facet], carriers[facet])),
    ids: indexIds(idsOf(positions, formerIds)),
    recordsOfGp: forEach(linkedKinds, (kind) => {
      const { gps, records } = linked[kind].links;
      return packLists(gpCount, gps, records);
    }),
  };
}

const forEach = <K extends string, V>(keys: readonly K[], make: (key: K) => V) =>
  Object.fromEntries(keys.map((key) => [key, make(key)])) as Record<K, V>;

function eachNameOnce({ shown, folded }: Findable["names"]): { shown: string; folded: string }[] {
  const once = new Map<string, string>();
  shown.forEach((name, i) => {
    if (!once.has(name)) once.set(name, folded[i]!);
  });
  return Array.from(once, ([name, ofName]) => ({ shown: name, folded: ofName }));
}

/** Ids and former ids, the latter where their GP is there. */
function idsOf(
  positions: ReadonlyMap<string, number>,
  formerIds: ReadonlyMap<string, string>,
): { id: string; gp: number }[] {
  const ids = Array.from(positions, ([id, gp]) => ({ id, gp }));
  for (const [id, leadsTo] of formerIds) {
    const gp = positions.get(leadsTo);
    if (gp !== undefined) ids.push({ id, gp });
  }
  return ids;
}

/** @returns the checksum over what was written. */
function writeIndex(draft: DatabaseSync, index: DatasetIndex): string {
  const arrays = [...arraysIn(index)];
  writeArrays(draft, arrays);
  return indexChecksum(arrays);
}
