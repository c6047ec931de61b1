/**
 * Stores the evidence that a source gives for its records, and explains records with it. Evidence is a quotation from a
 * document, and the reason for taking or refusing it. A dataset's hash does not cover it, so an import that changes
 * only evidence publishes nothing. Each record's evidence has its own checksum, which every read verifies.
 */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { Evidence } from "#records/canonical.ts";
import { type Explanation, statementOf } from "#records/explanation.ts";
import { cut } from "#records/fields.ts";
import { namedKinds } from "#records/kinds.ts";
import { isUnchanged } from "./dataset-hash.ts";
import type { Generation } from "./generation.ts";
import { arraysOf, openAs, otherFileWords, refusalOf } from "./open-generation.ts";

const rowsMax = 20;

const documentColumns = ["form", "number", "filer", "filed_on", "url"] as const;
const ownColumns = ["field", "text", "firm", "basis", "confidence", "is_taken", "why"] as const;
export const evidenceColumns = [...documentColumns, ...ownColumns];

export interface KeptEvidence {
  /** Rows with the values of `evidenceColumns`. */
  rows: readonly (readonly SQLInputValue[])[];
  /** Number of further documents, which have no row. */
  leftOut: number;
}

const hidden = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;

function tidy(value: string | number | null): string | number | null {
  if (typeof value !== "string") return value;
  return cut(value.toWellFormed().replace(hidden, " ").trim());
}

/** Returns the evidence to store: at most 20 rows, with texts cleaned and cut. Returns null if none is given. */
export function keptEvidence(given: readonly Evidence[] = []): KeptEvidence | null {
  if (given.length === 0) return null;
  const shown = given.slice(0, rowsMax);
  const rows = shown.map((one) => evidenceColumns.map((column) => tidy(one[column])));
  const documents = new Set(given.flatMap(({ number, others = [] }) => [number, ...others]));
  return { rows, leftOut: documents.size - new Set(shown.map(({ number }) => number)).size };
}

const checksum = (record: string, { rows, leftOut }: KeptEvidence) =>
  crc32(JSON.stringify([record, leftOut, rows]));

/** Opens a writer of evidence. It stores each document once. */
export function openEvidenceWriter(db: DatabaseSync) {
  const insertDocument = db.prepare("insert into evidence_document values (?, ?, ?, ?, ?, ?)");
  const insertRow = db.prepare("insert into evidence values (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const insertRecord = db.prepare("insert into evidence_of values (?, ?, ?)");
  const known = new Map<string, number>();
  return (record: string, evidence: KeptEvidence): void => {
    for (const row of evidence.rows) {
      const document = row.slice(0, documentColumns.length);
      const id = known.getOrInsertComputed(JSON.stringify(document), () => {
        insertDocument.run(known.size, ...document);
        return known.size;
      });
      insertRow.run(record, id, ...row.slice(documentColumns.length));
    }
    insertRecord.run(record, evidence.leftOut, checksum(record, evidence));
  };
}

/**
 * Opens a reader of evidence.
 * @returns a function that takes a public id and returns the record's evidence, or null if it has none. The function
 *   throws Error if the evidence does not match its checksum.
 */
export function openEvidenceReader(db: DatabaseSync): (record: string) => KeptEvidence | null {
  if (!hasEvidence(db)) return () => null;
  const selectRecord = db.prepare("select * from evidence_of where record = ?");
  const select = db.prepare(`select ${evidenceColumns.join(", ")} from evidence e
    left join evidence_document d on d.id = document where record = ? order by e.rowid`);
  select.setReturnArrays(true);
  return (record) => {
    const found = selectRecord.get(record);
    const rows = select.all(record) as unknown as SQLInputValue[][];
    if (found === undefined && rows.length === 0) return null;
    const evidence = { rows, leftOut: Number(found?.["documents_left_out"]) };
    if (checksum(record, evidence) === found?.["crc32"]) return evidence;
    throw new Error(`the evidence of ${record} does not match its checksum`);
  };
}

/** Reports whether a generation has a table of evidence. Earlier programs wrote none. */
const hasEvidence = (db: DatabaseSync): boolean =>
  db.prepare("select 1 from sqlite_schema where name in ('evidence', 'evidence_of')").get() !==
  undefined;

/** Returns the first fault of a generation's evidence, undefined if none. @throws Error if a checksum is wrong. */
export function evidenceFault(db: DatabaseSync): string | undefined {
  if (!hasEvidence(db)) return undefined;
  const lost = `select record from evidence_of except select public_id from canonical union all
    select * from (select record from evidence except select record from evidence_of)`;
  for (const [record] of arraysOf<[string]>(db, lost))
    return `it has evidence for ${record}, which does not exist`;
  const unused = "select id from evidence_document except select document from evidence";
  if (db.prepare(unused).get() !== undefined)
    return "it has an evidence document that no evidence cites";
  const read = openEvidenceReader(db);
  for (const [record] of arraysOf<[string]>(db, "select record from evidence_of")) read(record);
  return undefined;
}

type StoredRecord = readonly [
  id: string,
  document: Uint8Array,
  updatedAt: string,
  ownLength: number,
  hash: Uint8Array,
];

/**
 * Explains the GPs, principals and projects with the given current or former ids. Skips all other ids.
 * @throws Error if a record or its evidence does not match its checksum.
 */
export function explain(db: DatabaseSync, ids: readonly string[]): Explanation[] {
  const evidenceOf = openEvidenceReader(db);
  return namedKinds.flatMap((kind) => {
    const sql = `select id, cast(document as blob), updated_at, own_length, content_hash
      from ${kind} where id in (
        select coalesce(gp_id, value) from json_each(?) left join former_id on former_id = value)`;
    const rows = arraysOf<StoredRecord>(db, sql, JSON.stringify(ids));
    return Array.from(rows, (row) => explained(kind, row, evidenceOf(row[0])));
  });
}

function explained(
  kind: Explanation["kind"],
  [id, document, ...facts]: StoredRecord,
  kept: KeptEvidence | null,
): Explanation {
  if (!isUnchanged(document, ...facts)) throw new Error(`document ${id} does not match its row`);
  const stored = JSON.parse(Buffer.from(document).toString()) as object;
  const { name, provenance, gps } = { gps: [], ...stored } as unknown as Explanation;
  const evidence = (kept?.rows ?? []).map((values) => {
    const row = Object.fromEntries(values.map((value, i) => [evidenceColumns[i], value]));
    const { form, number, filer, filed_on, url, is_taken, ...said } = row as unknown as Evidence;
    return { document: { form, number, filer, filed_on, url }, ...said, taken: is_taken === 1 };
  });
  const left = { documents_left_out: kept?.leftOut ?? 0 };
  const told = { id, kind, name, statement: "", provenance, gps, evidence, ...left };
  return { ...told, statement: statementOf(told) };
}

/**
 * Explains a record of a published file. Returns null if no GP, principal or project has the id.
 * @throws DatasetFault if the file cannot be read, or its content is not what was published.
 */
export function explainPublished(
  path: string,
  generation: Generation,
  id: string,
): Explanation | null {
  using db = openAs(path, generation).db;
  try {
    return explain(db, [id])[0] ?? null;
  } catch (error) {
    throw refusalOf(path, otherFileWords((error as Error).message));
  }
}
