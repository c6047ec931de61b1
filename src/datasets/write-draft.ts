/** Writes the file of a generation: its records in display order, and their indexes. Counts what changes. */
import { createHash } from "node:crypto";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { crc32 } from "node:zlib";
import { foldVersion } from "#records/fold.ts";
import type { RecordName } from "#records/canonical.ts";
import { eachOf, type LinkedKind, linkedKinds, type RecordKind } from "#records/kinds.ts";
import { type DocumentPlaces, placeDocuments } from "#search/dataset-parts.ts";
import { datasetHash, hashOfContent } from "./dataset-hash.ts";
import {
  displayOrderOf,
  type DraftRecord,
  type DraftRecords,
  eachOnce,
  readLinks,
  type StoredLinks,
} from "./draft-record.ts";
import {
  draftPragmas,
  formatVersion,
  indexes,
  type Meta,
  tables,
  versionOf,
} from "./generation.ts";
import { openEvidenceWriter } from "./evidence.ts";
import { formerIdsOf } from "./former-ids.ts";
import { type Body, type Indexer, openIndexer } from "./index-records.ts";
import type { Known, Previous } from "./previous.ts";
import { type Frame, gpFrame, linkedFrame, linkJson, timeMember } from "./render.ts";
import { hexadecimal, indexChecksum } from "./served.ts";
import { arraysIn, writeArrays } from "./stored-arrays.ts";
import { linksIn, ownIn, type StoredText, type TextStore, unitBytesMax } from "./text-store.ts";

/** Counts of the records added, updated and removed since the previous generation, and the dropped links. */
export interface Changes {
  added: number;
  updated: number;
  removed: number;
  unlinked: Unlinked[];
}

/** A dropped link to an id that no GP has. */
interface Unlinked extends RecordName {
  source: string;
  gp: string;
}

interface DraftRequest {
  /** Path of an empty file. */
  path: string;
  /** All records of the generation; the lists are empty afterwards. */
  records: DraftRecords;
  /** Store of the records' JSON, cleared afterwards. */
  texts: TextStore;
  /** Names of sources, with the time of the last import that changed each. */
  sources: Iterable<readonly [name: string, importedAt: string]>;
  /** Former ids, with the ids that they lead to. */
  formerIds: ReadonlyMap<string, string>;
  /** Ids that the generation keeps for good, with the time of their first publication. */
  publishedIds: ReadonlyMap<string, string>;
  /** Ids of GPs and projects that were left out because of suppressions. */
  withheldIds: Iterable<string>;
  /** Time of the build, and `updated_at` of new or changed records whose source gives no time. */
  builtAt: string;
  /** Generation that the draft is compared with, to count changes and to keep times. */
  previous: Previous;
  /** True to write the draft even if no record differs, because evidence or reports may differ. */
  isForced?: boolean;
  /** Called after every 1,000 records, with the number of records written so far. */
  onWritten: (records: number) => void;
}

/** Writes a draft. Leaves its file incomplete and `meta` null if no record differs and the draft is not forced. */
export function writeDraft(request: DraftRequest): { meta: Meta | null; changes: Changes } {
  const { path, records, texts, sources, builtAt } = request;
  // In defensive mode SQLite would keep a journal despite the pragma, and a killed import would leave it behind.
  using db = new DatabaseSync(path, { defensive: false });
  db.exec(`${draftPragmas}; begin; ${tables}`);
  const writer = openDocumentWriter(db, request);
  const indexer = openIndexer();
  const formerIds = formerIdsOf(request.formerIds);
  const { gp, gps } = writeGps(writer, indexer, records.gp, formerIds);
  const { changes } = writer;
  const linkedBy: LinkedBy = (record, { source, sourceId: id }, links) => {
    const linked: WrittenGp[] = [];
    for (const gp of links) {
      const found = gps.get(source)?.get(gp) ?? gps.get("")!.get(request.formerIds.get(gp) ?? gp);
      if (found === undefined) changes.unlinked.push({ source, record, id, gp });
      else linked.push(found);
    }
    return eachOnce(linked);
  };
  const documents = { gp, ...writeLinked(writer, indexer, records, linkedBy, formerIds) };
  texts.clear();
  if (changes.added + changes.updated + changes.removed === 0 && !request.isForced)
    return { meta: null, changes };
  writePairs(db, "source", sources);
  writePairs(db, "former_id", request.formerIds);
  writePairs(db, "published_id", request.publishedIds);
  const insertWithheld = db.prepare("insert into withheld_id values (?)");
  for (const id of request.withheldIds) insertWithheld.run(id);
  const arrays = [...arraysIn(indexer.index(documents))];
  writeArrays(db, arrays);
  const hash = datasetHash(writer.contentHash());
  const meta: Meta = {
    format_version: String(formatVersion),
    fold_version: String(foldVersion),
    version: versionOf(builtAt, hash),
    hash,
    built_at: builtAt,
    index_crc32: indexChecksum(arrays),
    documents_crc32: writer.checksum(),
  };
  writePairs(db, "meta", Object.entries(meta));
  db.exec(`commit; ${indexes}`);
  return { meta, changes };
}

function writePairs(
  db: DatabaseSync,
  table: string,
  pairs: Iterable<readonly [string, string]>,
): void {
  const insert = db.prepare(`insert into ${table} values (?, ?)`);
  for (const pair of pairs) insert.run(...pair);
}

/** Facts about a GP for records that link to it. */
interface WrittenGp {
  position: number;
  linkJson: string;
  /** JSON of the lists that a principal inherits. */
  listsJson: string;
}

/** GPs by source and source id, and by public id under the source "". */
type WrittenGps = ReadonlyMap<string, ReadonlyMap<string, WrittenGp>>;

/** Writes the GPs of a draft. @param formerIds former ids of each GP that has any. */
function writeGps(
  writer: DocumentWriter,
  indexer: Indexer,
  records: DraftRecord[],
  formerIds: ReadonlyMap<string, readonly string[]>,
): { gp: DocumentPlaces; gps: WrittenGps } {
  const byId = new Map<string, WrittenGp>();
  const gps = new Map([["", byId]]);
  const gp = writer.write("gp", records, ({ id, source, sourceId }, position, _, stored) => {
    const own = JSON.parse(`{${ownIn(stored)}}`) as Body;
    const former = formerIds.get(id) ?? [];
    indexer.addGp(id, former, own);
    if (!gps.has(source)) gps.set(source, new Map());
    const written = writtenGp(id, position, own);
    gps.get(source)!.set(sourceId, written);
    byId.set(id, written);
    return gpFrame(id, former);
  });
  return { gp, gps };
}

function writtenGp(id: string, position: number, gp: Body): WrittenGp {
  return {
    position,
    linkJson: linkJson({ id, name: gp["name"] as string }),
    listsJson: JSON.stringify(eachOf(inheritedLists, (list) => gp[list])),
  };
}

/** Function that returns the GPs of a record's links, each once. Omits links to missing GPs. */
type LinkedBy = (
  kind: RecordKind,
  one: DraftRecord,
  links: readonly string[],
) => readonly WrittenGp[];

/** Writes the draft's records of linked kinds, with their links to GPs. */
const writeLinked = (
  writer: DocumentWriter,
  indexer: Indexer,
  records: DraftRecords,
  linkedBy: LinkedBy,
  formerIds: ReadonlyMap<string, readonly string[]>,
): Record<LinkedKind, DocumentPlaces> =>
  eachOf(linkedKinds, (kind) =>
    writer.write(kind, records[kind], (record, position, { gps }) => {
      const { id } = record;
      const linked = linkedBy(kind, record, gps);
      for (const gp of linked) indexer.addLink(kind, position, gp.position);
      if (kind === "principal")
        for (const former of formerIds.get(id) ?? []) indexer.addFormerId(former, position);
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
  const union = eachOf(inheritedLists, (name) => eachOnce(lists.flatMap((list) => list[name])));
  return JSON.stringify(union);
}

/** Lists that a principal inherits from its GPs. */
const inheritedLists = ["tags", "themes", "markets"] as const;
type Inherited = Record<(typeof inheritedLists)[number], readonly string[]>;

type DocumentWriter = ReturnType<typeof openDocumentWriter>;

/** Function that frames a record. @param stored texts with the record's own part. */
type FrameOf = (
  record: DraftRecord,
  position: number,
  links: StoredLinks,
  stored: StoredText,
) => Frame;

/** Opens a document writer. Write each kind once, in the order of `recordKinds`. */
function openDocumentWriter(
  draft: DatabaseSync,
  { previous, texts, builtAt, onWritten }: DraftRequest,
) {
  const content = createHash("sha256");
  const changes: Changes = { added: 0, updated: 0, removed: 0, unlinked: [] };
  const assembly = openAssembly();
  const writeEvidence = openEvidenceWriter(draft);
  let checksum = 0;
  /** Hashes of the documents in `assembly`. Adding one hash alone to `content` takes as long as adding a document. */
  let hashes = "";
  let written = 0;
  const endBatch = () => {
    checksum = crc32(assembly.clear(), checksum);
    content.update(hashes, "hex");
    hashes = "";
  };
  const compare = (before: Known | undefined, hash: string, updatedAt: string) => {
    if (before === undefined) changes.added++;
    else changes.removed--;
    if (before !== undefined && (before.contentHash !== hash || before.updatedAt !== updatedAt))
      changes.updated++;
  };
  return {
    /**
     * Writes all records of a kind.
     * @param records list that is emptied, so that a million records can be freed.
     * @param frameOf function that is called in display order.
     * @returns the places of the documents.
     */
    write(kind: RecordKind, records: DraftRecord[], frameOf: FrameOf): DocumentPlaces {
      const known = previous.known(kind);
      // `compare` subtracts each record that is still there.
      changes.removed += known.size;
      const rows = openRowWriter(draft, kind);
      const lengths = new Uint32Array(records.length);
      const ownLengths = new Uint32Array(records.length);
      records.sort(displayOrderOf(kind)).forEach((record, position) => {
        const stored = texts.read(record.text);
        const links = readLinks(linksIn(stored));
        const contentBytes = assembly.begin(frameOf(record, position, links, stored), stored);
        const hash = hashOfContent(contentBytes);
        const before = known.size === 0 ? undefined : known.get(record.id);
        const updatedAt = updatedAtOf(links, hash, before, builtAt);
        const { document, ownLength } = assembly.end(updatedAt);
        compare(before, hash, updatedAt);
        if (links.evidence !== null) writeEvidence(record.id, links.evidence);
        hashes += hash;
        lengths[position] = document.length;
        ownLengths[position] = ownLength;
        const isBatchWritten = rows.add(
          position,
          record.id,
          record.source,
          record.sourceId,
          before?.since ?? builtAt,
          hash,
          updatedAt,
          links.statedAt === null ? 0 : 1,
          ownLength,
          document,
        );
        if (isBatchWritten) endBatch();
        if (++written % 1000 === 0) onWritten(written);
      });
      rows.end();
      endBatch();
      records.length = 0;
      return placeDocuments(lengths, ownLengths);
    },
    /** Returns the hash over all written content, without times. */
    contentHash: () => content.digest("hex"),
    /** Returns the checksum over all documents, as in `meta`. */
    checksum: () => hexadecimal(checksum),
    changes: changes as Readonly<Changes>,
  };
}

/** SQL for a row. SQLite copies a document's bytes as they are, and decodes a hash faster than a Buffer is made. */
const row = `(${"?, ".repeat(5)}unhex(?), ${"?, ".repeat(3)}cast(? as text))`;
const columns = 10;

/** Number of rows in a statement. One statement for many small rows takes half as long as one for each row. */
const batchRows = 32;

function openRowWriter(db: DatabaseSync, kind: RecordKind) {
  const insert = (rows: number) =>
    db.prepare(`insert into ${kind} values ${Array.from({ length: rows }, () => row).join(", ")}`);
  const whole = insert(batchRows);
  let batch: SQLInputValue[] = [];
  return {
    /** Adds a row. Returns true if this row and all before it are now written. */
    add(...values: SQLInputValue[]): boolean {
      batch.push(...values);
      if (batch.length < batchRows * columns) return false;
      whole.run(...batch);
      batch = [];
      return true;
    },
    /** Writes the last batch. Call it once, at the end. */
    end(): void {
      if (batch.length > 0) insert(batch.length / columns).run(...batch);
    },
  };
}

/** Maximum number of bytes for a document's time and constant parts. */
const assemblySpare = 256;

/** Opens an assembly. It puts documents together from their parts, as bytes. */
function openAssembly() {
  let bytes = Buffer.allocUnsafeSlow(256 * 1024);
  let start = 0;
  let timeAt = 0;
  let end = 0;
  return {
    /** Begins a document. @returns the document without its time, valid until `end`. */
    begin({ head, tail }: Frame, { bytes: stored, own, end: ownEnd }: StoredText): Uint8Array {
      const units = head.length + tail.length;
      const needed = end + units * unitBytesMax + (ownEnd - own) + assemblySpare;
      if (needed > bytes.length) {
        // Documents that wait to be written still use the old buffer.
        const larger = Buffer.allocUnsafeSlow(needed * 2);
        larger.set(bytes.subarray(0, end));
        bytes = larger;
      }
      start = end;
      end += bytes.write(head, end, "latin1");
      end += stored.copy(bytes, end, own, ownEnd);
      end += bytes.write(timeMember, end, "latin1");
      timeAt = end;
      end += bytes.write(tail, end, "utf8");
      return bytes.subarray(start, end);
    },
    /** Ends a document. @returns the document with its time, valid until `clear`. */
    end(updatedAt: string): { document: Uint8Array; ownLength: number } {
      bytes.copyWithin(timeAt + updatedAt.length, timeAt, end);
      bytes.write(updatedAt, timeAt, "latin1");
      end += updatedAt.length;
      const ownLength = timeAt + updatedAt.length + 1 - start;
      return { document: bytes.subarray(start, end), ownLength };
    },
    /** Removes all documents. @returns their bytes, valid until the next `begin`. */
    clear(): Uint8Array {
      const all = bytes.subarray(0, end);
      end = 0;
      return all;
    },
  };
}

/**
 * Returns a record's `updated_at`: the time that the source states, else the former one if the content is unchanged,
 * else `builtAt`.
 */
function updatedAtOf(
  { statedAt }: StoredLinks,
  contentHash: string,
  before: Known | undefined,
  builtAt: string,
): string {
  if (statedAt !== null) return statedAt;
  return before?.contentHash === contentHash ? before.updatedAt : builtAt;
}
