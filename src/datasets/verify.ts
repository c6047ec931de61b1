/** Verifies a generation before it is published: documents as they will be served, hash, counts, every link. */
import { createHash, type Hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import type { LinkedKind } from "#search/dataset-parts.ts";
import { documentBytes } from "#search/documents.ts";
import { spellingsOfMarket } from "#search/market-spellings.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { datasetHash, hashOfContent } from "./dataset-hash.ts";
import { type Meta, versionOf } from "./format.ts";
import { openGeneration } from "./open-generation.ts";
import { batchesOf } from "./rows.ts";
import { timeMember } from "./render.ts";
import { free, hexadecimal, openDocumentPieces, readIndex } from "./served.ts";
import { type Body, facetsOf, namesOf } from "./write-gps.ts";

/** Of more documents of a kind, a sample of this size is hashed again and parsed, evenly spread. */
const sampleSize = 1000;

/**
 * @param onChecked called now and then with the number of records read so far.
 * @throws DatasetFault naming what is wrong.
 */
export function verifyGeneration(
  path: string,
  onChecked: (records: number) => void = () => {},
): void {
  const { db, meta } = openGeneration(path);
  const damage = (what: string) => new DatasetFault(`The dataset ${path} is damaged: ${what}.`);
  try {
    const fault = firstFault(db, meta, onChecked);
    if (fault !== undefined) throw damage(fault);
  } catch (error) {
    throw error instanceof DatasetFault ? error : damage((error as Error).message);
  } finally {
    db.close();
  }
}

/** What is gathered from all documents. */
interface Gathered {
  contentHashes: Hash;
  /** Of the documents. */
  bytes: number;
  checksum: number;
  tally: Tally;
  records: number;
}

function firstFault(
  db: DatabaseSync,
  meta: Meta,
  onChecked: (records: number) => void,
): string | undefined {
  const check = db.prepare("pragma quick_check").get()!["quick_check"] as string;
  if (check !== "ok") return `SQLite says ${check}`;
  const { documents } = readIndex(db, meta);
  const contentHashes = createHash("sha256");
  const tally = openTally();
  const gathered: Gathered = { contentHashes, bytes: 0, checksum: 0, tally, records: 0 };
  let bytes = 0;
  for (const kind of recordKinds) {
    const fault = readBack(db, kind, gathered, onChecked);
    if (fault !== undefined) return fault;
    bytes += documentBytes(documents[kind]);
    if (gathered.bytes !== bytes) return `its index tells of other ${kind} documents`;
  }
  if (datasetHash(contentHashes.digest("hex")) !== meta.hash)
    return "its documents have another hash";
  if (versionOf(meta.built_at, meta.hash) !== meta.version) return "it has another version";
  if (hexadecimal(gathered.checksum) !== meta.documents_crc32)
    return "the checksum of its documents differs";
  const table = tally.firstWrongTable(db);
  return table && `the rows of ${table} are not those its documents call for`;
}

/** @returns the first fault among the documents of a kind. */
function readBack(
  db: DatabaseSync,
  kind: RecordKind,
  gathered: Gathered,
  onChecked: (records: number) => void,
): string | undefined {
  const { contentHashes, tally } = gathered;
  const records = count(db, kind);
  const everyNth = Math.ceil(records / sampleSize);
  const piecesOf = openDocumentPieces(db, kind);
  const sql = `select ${documentColumns} from ${kind} where position >= ? order by position limit ?`;
  let expected = 0;
  for (const batch of batchesOf<DocumentRow>(db, sql)) {
    const bytes = piecesOf(batch[0]![0], batch.at(-1)![0]);
    let start = 0;
    for (const row of batch) {
      const [position, id, , , , length] = row;
      if (position !== expected++) return `${kind} positions do not run from 0 without a gap`;
      const document = { bytes, start, end: (start += length) };
      const isOfSample = position % everyNth === 0;
      if (!isPlaced(row, document) || (isOfSample && !isUnchanged(row, document)))
        return `document ${id} is not what its row says`;
      if (kind === "gp") tally.addGp(id, JSON.parse(textOf(document)) as Body);
      else {
        if (isOfSample) JSON.parse(textOf(document));
        tally.addLinked(kind, position, tailOf(row, document));
      }
    }
    if (start !== bytes.length) return `${kind} documents are not as long as their rows say`;
    contentHashes.update(Buffer.concat(batch.map((row) => row[2])));
    gathered.checksum = crc32(bytes, gathered.checksum);
    gathered.bytes += bytes.length;
    onChecked((gathered.records += batch.length));
    free(bytes);
  }
  return undefined;
}

type DocumentRow = readonly [
  position: number,
  id: string,
  contentHash: Uint8Array,
  updatedAt: string,
  ownLength: number,
  bytes: number,
];

const documentColumns =
  "position, id, content_hash, updated_at, own_length, octet_length(document)";

/** A document as it is stored, among others. */
interface StoredDocument {
  bytes: Buffer;
  start: number;
  end: number;
}

const textOf = ({ bytes, start, end }: StoredDocument) => bytes.toString("utf8", start, end);

/**
 * What follows the record's own members, in which every byte is a character: all that is looked for there is ASCII, and
 * no other character has its bytes in UTF-8.
 */
const tailOf = ([, , , , ownLength]: DocumentRow, { bytes, start, end }: StoredDocument) =>
  bytes.toString("latin1", start + ownLength, end);

/** Do id and time match the row, and do the document's own members end where the row says? */
function isPlaced(row: DocumentRow, document: StoredDocument): boolean {
  const [, id, , updatedAt, ownLength] = row;
  const { bytes, start, end } = document;
  const beginning = `{"id":"${id}",`;
  const ending = `${timeMember}${updatedAt}"`;
  const ownEnd = start + ownLength;
  return (
    ownEnd <= end &&
    bytes.toString("latin1", start, start + beginning.length) === beginning &&
    bytes.toString("latin1", ownEnd - ending.length, ownEnd) === ending &&
    // The last one is the record's own: no later member can hold another.
    !tailOf(row, document).includes(timeMember)
  );
}

/** Does the content of the document have the hash of its row? */
function isUnchanged(
  [, , contentHash, updatedAt, ownLength]: DocumentRow,
  { bytes, start, end }: StoredDocument,
): boolean {
  const timeEnd = start + ownLength - 1;
  const content = [bytes.subarray(start, timeEnd - updatedAt.length), bytes.subarray(timeEnd, end)];
  return hashOfContent(Buffer.concat(content)) === Buffer.from(contentHash).toString("hex");
}

/** Takes all documents as they are served, kind by kind, in the order in which they were written. */
interface Tally {
  addGp(id: string, gp: Body): void;
  /** @param tail ends with the record's GPs. */
  addLinked(kind: LinkedKind, position: number, tail: string): void;
  /** A table that lacks rows or has some that lead nowhere; undefined where there is none. */
  firstWrongTable(db: DatabaseSync): string | undefined;
}

type Link = readonly [rowid: number, kind: string, record: number, gp: number];

function openTally(): Tally {
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
      const carried = facetsOf(gp);
      for (const values of Object.values(carried)) facets += values.length;
      for (const market of carried.market) markets.add(market);
    },
    addLinked(kind, position, tail) {
      for (const id of gpIdsIn(tail)) links.push(kind, position, positionOfGp.get(id) ?? -1);
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

/** Does the table have so many rows, each about an existing GP? */
function haveGps(db: DatabaseSync, table: string, rows: number, gps: number): boolean {
  const { n, least, greatest } = db
    .prepare(`select count(*) as n, min(gp) as least, max(gp) as greatest from ${table}`)
    .get()! as Record<string, number>;
  return n === rows && (n === 0 || (least! >= 0 && greatest! < gps));
}

const gpsMember = '"gps":[';
const idMember = '{"id":"';
const idLength = 19;

/** Ids in the list at the end of a document. No text can look like a member, because its quotes are escaped. */
function gpIdsIn(tail: string): string[] {
  const ids: string[] = [];
  let at = tail.lastIndexOf(gpsMember);
  while ((at = tail.indexOf(idMember, at)) >= 0) {
    at += idMember.length;
    ids.push(tail.slice(at, at + idLength));
  }
  return ids;
}
