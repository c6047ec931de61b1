/** Writes the file of a generation: its records and their indexes. */
import { DatabaseSync } from "node:sqlite";
import { foldVersion } from "#records/fold.ts";
import { eachOf, type LinkedKind, linkedKinds } from "#records/kinds.ts";
import type { DocumentPlaces } from "#search/documents.ts";
import { datasetHash } from "./dataset-hash.ts";
import { type Changes, type DocumentWriter, openDocumentWriter } from "./document-writer.ts";
import { type DraftRecord, type DraftRecords, eachOnce } from "./draft-record.ts";
import { draftPragmas, formatVersion, indexes, type Meta, tables, versionOf } from "./format.ts";
import { formerIdsByGp } from "./former-ids.ts";
import { type Body, type Indexer, openIndexer } from "./index-records.ts";
import type { Previous } from "./previous.ts";
import { gpFrame, linkedFrame, linkJson } from "./render.ts";
import { openRowWriter } from "./rows.ts";
import { type Checksums, indexChecksum } from "./served.ts";
import { arraysIn, writeArrays } from "./stored-arrays.ts";
import { ownIn, type TextStore } from "./text-store.ts";

export interface DraftContent {
  /** All records of the generation; the lists are empty afterwards. */
  records: DraftRecords;
  /** Store of their JSON, cleared afterwards. */
  texts: TextStore;
  /** Names of sources, with the time of the last import that changed each. */
  sources: Iterable<readonly [name: string, importedAt: string]>;
  /** Former ids, with the GPs that they lead to. */
  formerIds: ReadonlyMap<string, string>;
  builtAt: string;
}

/**
 * Writes a draft.
 * @param path path of an empty file.
 * @param previous generation that changes are counted against.
 * @param onWritten called now and then with the number of records written so far.
 * @returns `meta` null if nothing differs; the file is then incomplete.
 */
export function writeDraft(
  path: string,
  { records, texts, sources, formerIds, builtAt }: DraftContent,
  previous: Previous,
  onWritten: (records: number) => void,
): { meta: Meta | null; changes: Changes } {
  // In defensive mode SQLite would keep a journal despite the pragma, and a killed import would leave it behind, too.
  const db = new DatabaseSync(path, { defensive: false });
  try {
    db.exec(`${draftPragmas}; begin; ${tables}`);
    const writer = openDocumentWriter({ draft: db, previous, texts, builtAt, onWritten });
    const indexer = openIndexer();
    const { gp, gps } = writeGps(writer, indexer, records.gp, formerIdsByGp(formerIds));
    const documents = { gp, ...writeLinked(writer, indexer, records, gps) };
    texts.clear();
    const changes = writer.changes();
    if (changes.added + changes.updated + changes.removed === 0) return { meta: null, changes };
    writePairs(db, "source", sources);
    writePairs(db, "former_id", formerIds);
    const arrays = [...arraysIn(indexer.index(documents))];
    writeArrays(db, arrays);
    const checksums = {
      index_crc32: indexChecksum(arrays),
      documents_crc32: writer.checksum(),
    };
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

/** Facts about a GP for records that link to it. */
interface WrittenGp {
  position: number;
  /** JSON of the link in their documents. */
  linkJson: string;
  /** JSON of the lists that a principal inherits. */
  listsJson: string;
}

/** GPs by source, and by the source's own id. */
type WrittenGps = ReadonlyMap<string, ReadonlyMap<string, WrittenGp>>;

/** Writes the GPs of a draft. @param formerIds former ids of each GP that has any. */
function writeGps(
  writer: DocumentWriter,
  indexer: Indexer,
  records: DraftRecord[],
  formerIds: ReadonlyMap<string, readonly string[]>,
): { gp: DocumentPlaces; gps: WrittenGps } {
  const gps = new Map<string, Map<string, WrittenGp>>();
  const gp = writer.write("gp", records, ({ id, source, sourceId }, position, _, stored) => {
    const own = JSON.parse(`{${ownIn(stored)}}`) as Body;
    const former = formerIds.get(id) ?? [];
    indexer.addGp(id, former, own);
    if (!gps.has(source)) gps.set(source, new Map());
    gps.get(source)!.set(sourceId, writtenGp(id, position, own));
    return gpFrame(id, former);
  });
  return { gp, gps };
}

function writtenGp(id: string, position: number, gp: Body): WrittenGp {
  const { name, tags, themes, markets } = gp as unknown as { name: string } & Inherited;
  return {
    position,
    linkJson: linkJson({ id, name }),
    listsJson: JSON.stringify({ tags, themes, markets }),
  };
}

/** Writes the records of a draft that belong to GPs, with their links to them. */
const writeLinked = (
  writer: DocumentWriter,
  indexer: Indexer,
  records: DraftRecords,
  gps: WrittenGps,
): Record<LinkedKind, DocumentPlaces> =>
  eachOf(linkedKinds, (kind) =>
    writer.write(kind, records[kind], ({ id, source }, position, { gps: ids }) => {
      const linked = ids.map((gp) => gps.get(source)!.get(gp)!);
      for (const gp of linked) indexer.addLink(kind, position, gp.position);
      const lists = kind === "principal" ? inheritedJson(linked) : null;
      return linkedFrame(
        id,
        lists,
        linked.map(({ linkJson }) => linkJson),
      );
    }),
  );

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

/** Lists that a principal inherits from its GPs. */
interface Inherited {
  tags: readonly string[];
  themes: readonly string[];
  markets: readonly string[];
}
