/** Verifies a generation before it is published: documents as they will be served, hash, checksums, and index. */
import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { CanonicalRecord } from "#records/canonical.ts";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import { type DatasetIndex, type DocumentPlaces, placeDocuments } from "#search/dataset-parts.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { datasetHash, isUnchanged } from "./dataset-hash.ts";
import { displayOrderOf, sortKeyOf } from "./draft-record.ts";
import { type Meta, versionOf } from "./generation.ts";
import { evidenceFault } from "./evidence.ts";
import { formerIdsOf } from "./former-ids.ts";
import { type Body, openIndexer } from "./index-records.ts";
import { arraysOf, openGeneration } from "./open-generation.ts";
import { hasTable } from "./previous.ts";
import { timeMember } from "./render.ts";
import { hexadecimal, indexChecksum, openPieces } from "./served.ts";
import { arraysIn, free, readArrays } from "./stored-arrays.ts";

/** Maximum number of documents of a kind that are hashed again and parsed, evenly spread. All GPs are parsed. */
const sampleSize = 1000;

/** Length of a document's hash in its row, in bytes. */
const hashBytes = 16;

/**
 * Number of documents read together. The text of most batches is below 128 KiB. V8 would free longer texts later, and
 * an import would take 30 MB more.
 */
const batchSize = 128;

/** Verifies a generation's file. @throws DatasetFault that names the fault. Adds `advice` if the file is damaged. */
export function verifyGeneration(path: string, advice = ""): void {
  const { db, meta } = openGeneration(path);
  using _ = db;
  const damage = (what: string) =>
    new DatasetFault(`The dataset ${path} is damaged: ${what}.${advice}`);
  try {
    const fault = firstFault(db, meta);
    if (fault !== undefined) throw damage(fault);
  } catch (error) {
    throw error instanceof DatasetFault ? error : damage((error as Error).message);
  }
}

/** Returns empty accumulators for the facts that are gathered from all documents. */
const gather = () => ({
  contentHashes: createHash("sha256"),
  checksum: 0,
  indexer: openIndexer(),
  positionOfGp: new Map<string, number>(),
  /** Former ids, each with the id of the GP whose document names it. */
  formerIds: new Map<string, string>(),
});

function firstFault(db: DatabaseSync, meta: Meta): string | undefined {
  const check = db.prepare("pragma quick_check").get()!["quick_check"] as string;
  if (check !== "ok") return `SQLite says ${check}`;
  const gathered = gather();
  const documents: Partial<Record<RecordKind, DocumentPlaces>> = {};
  for (const kind of recordKinds) {
    const read = readBack(db, kind, gathered);
    if (typeof read === "string") return read;
    documents[kind] = read;
  }
  if (datasetHash(gathered.contentHashes.digest("hex")) !== meta.hash)
    return "the hash of its documents differs";
  if (versionOf(meta.built_at, meta.hash) !== meta.version)
    return "its version does not match its hash and build time";
  if (hexadecimal(gathered.checksum) !== meta.documents_crc32)
    return "the checksum of its documents differs";
  if (count(db, "canonical where source not in (select name from source)") !== 0)
    return "its table source does not match its documents";
  if (!areFormerIds(db, gathered.formerIds))
    return "its table former_id does not match its documents";
  if (!arePublishedIds(db)) return "its table published_id does not match its documents";
  if (indexChecksum(readArrays(db)) !== meta.index_crc32)
    return "the checksum of its index differs";
  return (
    firstWrongArray(db, gathered.indexer.index(documents as DatasetIndex["documents"])) ??
    evidenceFault(db)
  );
}

/** Verifies the documents of a kind and gathers their facts. @returns the documents' places, or the first fault. */
function readBack(
  db: DatabaseSync,
  kind: RecordKind,
  gathered: ReturnType<typeof gather>,
): DocumentPlaces | string {
  const { contentHashes, indexer, positionOfGp } = gathered;
  const formerIds = formerIdsOf(formerIdRows(db, kind));
  const records = count(db, kind);
  const everyNth = Math.ceil(records / sampleSize);
  const lengths = new Uint32Array(records);
  const ownLengths = new Uint32Array(records);
  const documentsOf = openPieces(db, kind, "document");
  const hashesOf = openPieces(db, kind, "content_hash");
  const rows = db.prepare(
    `select ${documentColumns} from ${kind} where position between ? and ? order by position`,
  );
  rows.setReturnArrays(true);
  let expected = 0;
  const order = displayOrderOf(kind);
  let before = { sortKey: "", id: "" };
  for (let from = 0; from < records; from += batchSize) {
    const to = from + batchSize - 1;
    const batch = rows.all(from, to) as unknown as DocumentRow[];
    const bytes = documentsOf(from, to);
    const characters = bytes.toString("latin1");
    const hashes = hashesOf(from, to);
    let start = 0;
    for (const row of batch) {
      const [position, id, updatedAt, ownLength, length] = row;
      if (position !== expected++) return withGap(kind);
      const end = start + length;
      const tail = characters.slice(start + ownLength, end);
      const document = { bytes, characters, start, end, tail };
      start = end;
      const isOfSample = position % everyNth === 0;
      const at = (position - from) * hashBytes;
      const hash = hashes.subarray(at, at + hashBytes);
      const own = bytes.subarray(end - length, end);
      if (!isPlaced(row, document) || (isOfSample && !isUnchanged(own, updatedAt, ownLength, hash)))
        return `document ${id} does not match its row`;
      lengths[position] = length;
      ownLengths[position] = ownLength;
      const record = { sortKey: sortKeyIn(kind, document), id };
      if (position > 0 && order(before, record) > 0)
        return `document ${id} is out of order after ${before.id}`;
      before = record;
      if (kind === "gp") {
        const gp = JSON.parse(textOf(document)) as Body;
        const formerIds = gp["former_ids"] as string[];
        positionOfGp.set(id, position);
        for (const former of formerIds) gathered.formerIds.set(former, id);
        indexer.addGp(id, formerIds, gp);
        continue;
      }
      for (const former of formerIds.get(id) ?? []) indexer.addFormerId(former, position);
      if (isOfSample) JSON.parse(textOf(document));
      for (const gpId of gpIdsIn(document)) {
        const gp = positionOfGp.get(gpId);
        if (gp === undefined) return `document ${id} names ${gpId}, which does not exist`;
        indexer.addLink(kind, position, gp);
      }
    }
    if (start !== bytes.length) return `its ${kind} documents are not as long as their rows say`;
    contentHashes.update(hashes);
    gathered.checksum = crc32(bytes, gathered.checksum);
    free(bytes);
  }
  return expected === records ? placeDocuments(lengths, ownLengths) : withGap(kind);
}

const withGap = (kind: RecordKind) =>
  `the positions of its ${kind} documents do not run from 0 without a gap`;

type DocumentRow = readonly [
  position: number,
  id: string,
  updatedAt: string,
  ownLength: number,
  bytes: number,
];

/** Columns of a `DocumentRow`. They omit the hash: reading a batch's hashes as one piece is several times as fast. */
const documentColumns = "position, id, updated_at, own_length, octet_length(document)";

/** A stored document in the bytes of a batch. */
interface StoredDocument {
  bytes: Buffer;
  /** The bytes, one character each. Only ASCII is searched for, and in UTF-8 no other character has ASCII bytes. */
  characters: string;
  start: number;
  end: number;
  /** Characters after the document's own members. */
  tail: string;
}

const textOf = ({ bytes, start, end }: StoredDocument) => bytes.toString("utf8", start, end);

/** Reports whether the id and time match the row, and the document's own members end where the row says. */
function isPlaced(
  [, id, updatedAt, ownLength, length]: DocumentRow,
  { characters, start, tail }: StoredDocument,
): boolean {
  const ending = `${timeMember}${updatedAt}"`;
  return (
    characters.startsWith(`{"id":"${id}",`, start) &&
    ownLength >= ending.length &&
    ownLength <= length &&
    characters.startsWith(ending, start + ownLength - ending.length) &&
    // The record's own `updated_at` is the last: no later member contains another.
    !tail.includes(timeMember)
  );
}

/** Members that the display order compares first. Quotes in a string are escaped, so none can look like a member. */
const sortMembers = { signal: ',"date":"', other: ',"name":"' } as const;
const [quote, backslash] = [0x22, 0x5c];

/** Returns the sort key of a document. @throws Error if the document has none. */
function sortKeyIn(kind: RecordKind, { bytes, characters, start, end }: StoredDocument): string {
  const member = sortMembers[kind === "signal" ? kind : "other"];
  const from = characters.indexOf(member, start) + member.length - 1;
  let to = from + 1;
  for (let unit; to < end && (unit = characters.charCodeAt(to)) !== quote;)
    to += unit === backslash ? 2 : 1;
  const value = JSON.parse(bytes.toString("utf8", from, to + 1)) as string;
  return sortKeyOf({ record: kind, name: value, date: value } as unknown as CanonicalRecord);
}

/** Returns the former ids of a kind's existing records, each with its record's present id. */
const formerIdRows = (db: DatabaseSync, kind: RecordKind): ReadonlyMap<string, string> =>
  new Map(arraysOf(db, `select former_id, gp_id from former_id join ${kind} on id = gp_id`));

/** Reports whether the table former_id has exactly the given ids for the existing GPs. */
function areFormerIds(db: DatabaseSync, told: ReadonlyMap<string, string>): boolean {
  const rows = formerIdRows(db, "gp");
  return rows.size === told.size && [...told].every(([former, gp]) => rows.get(former) === gp);
}

/** Reports whether published_id has the ids of all or of none of each source's GPs and principals. */
function arePublishedIds(db: DatabaseSync): boolean {
  if (!hasTable(db, "published_id") || count(db, "published_id") === 0) return true;
  const records = "select source, id from gp union all select source, id from principal";
  const torn = `select source from (${records}) left join published_id p using (id)
    group by source having count(p.since) not in (0, count(*))`;
  return count(db, `(${torn})`) === 0;
}

function count(db: DatabaseSync, from: string): number {
  return Number(db.prepare(`select count(*) as n from ${from}`).get()!["n"]);
}

const gpsMember = '"gps":[';
const idMember = '{"id":"';
const idLength = 19;

/** Returns the GP ids at the end of a document. No string can look like a member, because its quotes are escaped. */
function gpIdsIn({ tail }: StoredDocument): string[] {
  const ids: string[] = [];
  let at = tail.indexOf(gpsMember);
  while ((at = tail.indexOf(idMember, at)) >= 0) {
    at += idMember.length;
    ids.push(tail.slice(at, at + idLength));
  }
  return ids;
}

/** Returns how the stored arrays differ from those made from the documents. Returns undefined if they are equal. */
function firstWrongArray(db: DatabaseSync, made: DatasetIndex): string | undefined {
  const called = new Map(Array.from(arraysIn(made), (array) => [array.name, array]));
  for (const { name, element, bytes } of readArrays(db)) {
    const array = called.get(name);
    if (array?.element !== element) return `its array ${name} of ${element} is unexpected`;
    if (Buffer.compare(bytes, array.bytes) !== 0)
      return `its array ${name} does not match its documents`;
    called.delete(name);
  }
  const [missing] = called.keys();
  return missing && `it has no array ${missing}`;
}
