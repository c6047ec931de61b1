/** Records that a dataset had and the next one has not, as a small dataset that answers the same queries. */
import type { DatabaseSync } from "node:sqlite";
import {
  type EachKind,
  eachOf,
  linkedKinds,
  type RecordKind,
  recordKinds,
} from "#records/kinds.ts";
import {
  type DatasetIndex,
  type DatasetParts,
  documentCount,
  makeRoom,
  placeDocuments,
} from "#search/dataset-parts.ts";
import { type Body, openIndexer } from "./index-records.ts";
import { openGeneration } from "./open-generation.ts";

interface Row {
  document: string;
  own_length: number;
}

/**
 * Reads some records of a dataset, with the GPs and the signals on which queries for them depend.
 * @param path file of a kept dataset. @param ids ids of the records of each kind.
 * @throws DatasetFault if the file cannot be read.
 */
export function readDeparted(path: string, ids: EachKind<readonly string[]>): DatasetParts {
  const { db, meta } = openGeneration(path);
  try {
    const rows = rowsOf(db, ids);
    const indexer = openIndexer();
    const positionOf = new Map<string, number>();
    for (const { document } of rows.gp) {
      const gp = JSON.parse(document) as Body & { id: string; former_ids: string[] };
      positionOf.set(gp.id, positionOf.size);
      indexer.addGp(gp.id, gp.former_ids, gp);
    }
    for (const kind of linkedKinds)
      rows[kind].forEach(({ document }, record) => {
        for (const gp of gpsIn(document)) {
          const position = positionOf.get(gp);
          if (position !== undefined) indexer.addLink(kind, record, position);
        }
      });
    const index = indexer.index(eachOf(recordKinds, (kind) => placesOf(rows[kind])));
    const documents = makeRoom(index.documents, index.recordsOfGp);
    for (const kind of recordKinds) {
      const { bytes, starts } = documents[kind];
      for (let at = 0; at < documentCount(documents[kind]); at++)
        bytes.set(Buffer.from(rows[kind][at]!.document), starts[at]);
    }
    return { ...index, documents, version: meta.version, updatedAt: meta.built_at, sources: [] };
  } finally {
    db.close();
  }
}

/** Reads the records, the GPs of those that belong to one, and the signals of the GPs among them. */
function rowsOf(db: DatabaseSync, ids: EachKind<readonly string[]>): EachKind<Row[]> {
  const rows = eachOf(recordKinds, (kind) => rowsWith(db, kind, ids[kind]));
  const known = new Set(ids.gp);
  const gps = linkedKinds.flatMap((kind) => rows[kind].flatMap(({ document }) => gpsIn(document)));
  rows.gp.push(
    ...rowsWith(
      db,
      "gp",
      [...new Set(gps)].filter((id) => !known.has(id)),
    ),
  );
  if (ids.gp.length > 0) {
    const own = new Set(ids.signal);
    const some = ids.gp.map((id) => `instr(document, '${id}') > 0`).join(" or ");
    const ofGps = db.prepare(`select id, document, own_length from signal where ${some}`).all();
    rows.signal.push(...(ofGps.filter(({ id }) => !own.has(String(id))) as unknown as Row[]));
  }
  return rows;
}

function rowsWith(db: DatabaseSync, kind: RecordKind, ids: readonly string[]): Row[] {
  const find = db.prepare(`select document, own_length from ${kind} where id = ?`);
  return ids.flatMap((id) => (find.get(id) as unknown as Row | undefined) ?? []);
}

const gpsIn = (document: string): string[] =>
  (JSON.parse(document) as { gps: { id: string }[] }).gps.map(({ id }) => id);

const placesOf = (rows: readonly Row[]): DatasetIndex["documents"][RecordKind] =>
  placeDocuments(
    Uint32Array.from(rows, ({ document }) => Buffer.byteLength(document)),
    Uint32Array.from(rows, (row) => row.own_length),
  );
