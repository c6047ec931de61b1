/** Reads a generation back before it is published: documents as they will be served, hash, counts, every link. */
import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { RecordKind } from "#records/canonical.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { datasetHash, hashOfContent } from "./dataset-hash.ts";
import type { Body } from "./document-writer.ts";
import { versionOf, type Meta } from "./format.ts";
import { openGeneration } from "./open-generation.ts";
import { openTally } from "./tally-rows.ts";

/** The order in which documents went into the hash. */
const hashedKinds: readonly RecordKind[] = ["gp", "principal", "project", "signal"];

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
    if (!isDense(db, kind)) return `${kind} positions do not run from 0 without a gap`;
    for (const row of rowsOf(db, kind)) {
      const record = JSON.parse(row["document"] as string) as Body;
      if (!isServable(row, record))
        return `document ${row["id"] as string} is not what its row says`;
      tally.add(kind, record);
      digest.update(row["content_hash"] as Uint8Array);
    }
  }
  if (datasetHash(digest.digest("hex")) !== meta.hash) return "its documents have another hash";
  if (versionOf(meta.built_at, meta.hash) !== meta.version) return "it has another version";
  const table = tally.firstWrongTable(db);
  return table && `the rows of ${table} are not those its documents call for`;
}

const rowsOf = (db: DatabaseSync, kind: RecordKind) =>
  db
    .prepare(
      `select id, content_hash, updated_at, own_length, document from ${kind} order by position`,
    )
    .iterate();

function isDense(db: DatabaseSync, kind: RecordKind): boolean {
  const { n, first, last } = db
    .prepare(`select count(*) as n, min(position) as first, max(position) as last from ${kind}`)
    .get()!;
  return n === 0 || (first === 0 && last === Number(n) - 1);
}

const timeMember = ',"updated_at":"';

/** Does the document say what its row says, and end, inside a GP, where its own members end? */
function isServable(row: Record<string, unknown>, record: Body): boolean {
  const document = row["document"] as string;
  // The last one is the record's own: no later member can hold another.
  const start = document.lastIndexOf(timeMember) + timeMember.length;
  const end = document.indexOf('"', start);
  const contentHash = hashOfContent(document.slice(0, start) + document.slice(end));
  return (
    record["id"] === row["id"] &&
    record["updated_at"] === row["updated_at"] &&
    Buffer.compare(contentHash, row["content_hash"] as Uint8Array) === 0 &&
    Buffer.byteLength(document.slice(0, end + 1)) === row["own_length"]
  );
}
