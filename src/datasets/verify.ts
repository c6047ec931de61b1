/** Reads a generation back before it is published: documents as they will be served, hash, counts, every link. */
import { createHash, type Hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { recordKinds, type RecordKind } from "#records/canonical.ts";
import { documentBytes } from "#search/documents.ts";
import { documentColumns, isPlaced, isUnchanged, type DocumentRow } from "./check-document.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { datasetHash } from "./dataset-hash.ts";
import { versionOf, type Meta } from "./format.ts";
import { openGeneration } from "./open-generation.ts";
import { batchesOf } from "./rows.ts";
import { openChecksum, readIndex, type Checksum } from "./served.ts";
import { openTally, type Tally } from "./tally-rows.ts";
import type { Body } from "./write-gps.ts";

/** Of more documents than these of a kind, so many are hashed again and parsed, evenly spread. */
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
  checksum: Checksum;
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
  const [checksum, tally] = [openChecksum(), openTally()];
  const contentHashes = createHash("sha256");
  const gathered: Gathered = { contentHashes, bytes: 0, checksum, tally, records: 0 };
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
  if (checksum.digits() !== meta.documents_crc32) return "the checksum of its documents differs";
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
  const { contentHashes, checksum, tally } = gathered;
  let expected = 0;
  const everyNth = Math.ceil(countOf(db, kind) / sampleSize);
  const sql = `select ${documentColumns} from ${kind} where position >= ? order by position limit ?`;
  for (const batch of batchesOf<DocumentRow>(db, sql)) {
    for (const row of batch) {
      const [position, id, , , , document] = row;
      if (position !== expected++) return `${kind} positions do not run from 0 without a gap`;
      const isOfSample = position % everyNth === 0;
      if (!isPlaced(row) || (isOfSample && !isUnchanged(row)))
        return `document ${id} is not what its row says`;
      const record = isOfSample || kind === "gp" ? (JSON.parse(document) as Body) : null;
      if (kind === "gp") tally.addGp(id, record!);
      else tally.addLinked(kind, position, document);
    }
    contentHashes.update(Buffer.concat(batch.map((row) => row[2])));
    const documents = batch.map((row) => row[5]).join("");
    checksum.add(documents);
    gathered.bytes += Buffer.byteLength(documents);
    onChecked((gathered.records += batch.length));
  }
  return undefined;
}

const countOf = (db: DatabaseSync, kind: RecordKind) =>
  Number(db.prepare(`select count(*) as n from ${kind}`).get()!["n"]);
