/** Reads a generation back before it is published: documents as they will be served, hash, counts, every link. */
import { createHash, type Hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { RecordKind } from "#records/canonical.ts";
import { documentRows, isPlaced, isUnchanged } from "./check-document.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { datasetHash } from "./dataset-hash.ts";
import { versionOf, type Meta } from "./format.ts";
import { openGeneration } from "./open-generation.ts";
import { readServed } from "./served.ts";
import { openTally, type Tally } from "./tally-rows.ts";
import type { Body } from "./write-gps.ts";

/** The order in which documents went into the hash. */
const hashedKinds: readonly RecordKind[] = ["gp", "principal", "project", "signal"];

/** Of more documents than these of a kind, so many are hashed again and parsed, evenly spread. */
const sampleSize = 1000;

/** @throws DatasetFault naming what is wrong. */
export function verifyGeneration(path: string): void {
  const { db, meta } = openGeneration(path);
  const damage = (what: string) => new DatasetFault(`The dataset ${path} is damaged: ${what}.`);
  try {
    const fault = firstFault(db, meta);
    if (fault !== undefined) throw damage(fault);
  } catch (error) {
    throw error instanceof DatasetFault ? error : damage((error as Error).message);
  } finally {
    db.close();
  }
}

function firstFault(db: DatabaseSync, meta: Meta): string | undefined {
  const check = db.prepare("pragma quick_check").get()!["quick_check"] as string;
  if (check !== "ok") return `SQLite says ${check}`;
  const tally = openTally();
  const digest = createHash("sha256");
  for (const kind of hashedKinds) {
    const fault = readBack(db, kind, tally, digest);
    if (fault !== undefined) return fault;
  }
  if (datasetHash(digest.digest("hex")) !== meta.hash) return "its documents have another hash";
  if (versionOf(meta.built_at, meta.hash) !== meta.version) return "it has another version";
  const table = tally.firstWrongTable(db);
  if (table !== undefined) return `the rows of ${table} are not those its documents call for`;
  readServed(db, meta);
  return undefined;
}

/** @returns the first fault among the documents of a kind. */
function readBack(
  db: DatabaseSync,
  kind: RecordKind,
  tally: Tally,
  digest: Hash,
): string | undefined {
  const hashes: Uint8Array[] = [];
  const everyNth = Math.ceil(countOf(db, kind) / sampleSize);
  for (const row of documentRows(db, kind)) {
    const [position, id, contentHash, , , document] = row;
    if (position !== hashes.length) return `${kind} positions do not run from 0 without a gap`;
    hashes.push(contentHash);
    const isOfSample = position % everyNth === 0;
    if (!isPlaced(row) || (isOfSample && !isUnchanged(row)))
      return `document ${id} is not what its row says`;
    if (kind === "gp") tally.addGp(id, JSON.parse(document) as Body);
    else tally.addLinked(kind, document);
    if (isOfSample) JSON.parse(document);
  }
  digest.update(Buffer.concat(hashes));
  return undefined;
}

const countOf = (db: DatabaseSync, kind: RecordKind) =>
  Number(db.prepare(`select count(*) as n from ${kind}`).get()!["n"]);
