/** Reads a dataset's records as the API returns them, one at a time to save memory. */
import type { DatabaseSync } from "node:sqlite";
import type { Generation } from "#datasets/generation.ts";
import { arraysOf, openPublished } from "#datasets/open-generation.ts";
import { readArrays, treeOf } from "#datasets/stored-arrays.ts";
import { embeddedMax, noFunds } from "#operations/page.ts";
import { declarations } from "#records/declarations.ts";
import { ListedGp } from "#records/gp.ts";
import { embeddedKinds, type RecordKind } from "#records/kinds.ts";
import type { RecordMembers } from "#records/columns.ts";
import type { DatasetIndex } from "#search/dataset-parts.ts";

export type RecordSource = ReturnType<typeof openRecordSource>;

/**
 * Opens a dataset. Reads the whole file first, to verify that it is the published one.
 * @throws DatasetFault if the file is not the published one or cannot be read.
 */
export function openRecordSource(path: string, generation: Generation) {
  const { db } = openPublished(path, generation);
  const documents = (kind: RecordKind, embeds = true) =>
    kind === "gp" ? gps(db, embeds) : documentsOf(db, kind);
  return {
    generation,
    /** Yields the records of a kind in display order as pieces of NDJSON, byte for byte as in the API's `data`. */
    lines: (kind: RecordKind) => inPieces(documents(kind).map((document) => `${document}\n`)),
    records: (kind: RecordKind) => parsed(documents(kind)),
    /** Yields the records of a kind, parsed. Leaves out records embedded in GPs, because they are most of the bytes. */
    ownRecords: (kind: RecordKind) => parsed(documents(kind, false)),
    countLinks(kind: RecordKind): number {
      const count = db.prepare("select length(bytes) / 4 as links from array where name = ?");
      return Number(count.get(`recordsOfGp.${kind}.items`)!["links"]);
    },
    countFunds(): number {
      const sum = "select sum(json_array_length(document, '$.funds')) as funds from gp";
      return Number(db.prepare(sum).get()!["funds"]);
    },
    /** Returns the sources of the records, sorted by name, each with the time of its import. */
    sources: () =>
      arraysOf<[string, string]>(db, "select name, imported_at from source order by name"),
    close: () => db.close(),
  };
}

/** Returns the schema of what `ownRecords` yields. A GP lacks its principals and signals, which name it in `gps`. */
export const ownSchemaOf = (kind: RecordKind) =>
  kind === "gp" ? ListedGp : declarations[kind].schema;

/** Minimum number of characters in a piece, except the last one. */
const charactersOfPiece = 64 * 1024;

/** Joins strings into pieces, so that fewer writes are needed. */
export function* inPieces(texts: Iterable<string>): Generator<string> {
  let piece = "";
  for (const text of texts) {
    piece += text;
    if (piece.length < charactersOfPiece) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}

const parsed = (documents: IteratorObject<string>) =>
  documents.map((document) => JSON.parse(document) as RecordMembers);

function* documentsOf(db: DatabaseSync, kind: RecordKind): Generator<string> {
  const rows = arraysOf<[string]>(db, `select document from ${kind} order by position`);
  for (const [document] of rows) yield document;
}

/** Yields GPs with the totals of their principals and signals. @param embeds true to embed the first few, too. */
function* gps(db: DatabaseSync, embeds: boolean): Generator<string> {
  // The other arrays are left out, because only a server needs them.
  const { recordsOfGp } = treeOf([...readArrays(db, "recordsOfGp.%")]) as DatasetIndex;
  const readOwn = openOwnDocuments(db, "gp");
  const lists = embeddedKinds.map((kind) => {
    const { starts, items } = recordsOfGp[kind];
    return { kind, starts, items, readOwn: openOwnDocuments(db, kind) };
  });
  for (let gp = 0; ; gp++) {
    let document = readOwn(gp);
    if (document === null) return;
    if (!document.includes(',"funds":[')) document += noFunds;
    for (const { kind, starts, items, readOwn } of lists) {
      const first = starts[gp]!;
      const total = starts[gp + 1]! - first;
      if (embeds) {
        const embedded = items.subarray(first, first + Math.min(total, embeddedMax));
        const documents = Array.from(embedded, (position) => `${readOwn(position)}}`).join(",");
        document += `,"${kind}s":[${documents}]`;
      }
      document += `,"${kind}s_total":${total}`;
    }
    yield `${document}}`;
  }
}

/**
 * Returns a function that reads a document without the members that come from other records, and without its closing
 * brace. The function returns null after the last document.
 */
function openOwnDocuments(db: DatabaseSync, kind: RecordKind): (position: number) => string | null {
  const read = db.prepare(
    `select cast(substr(cast(document as blob), 1, own_length) as text) as own from ${kind} where position = ?`,
  );
  return (position) => (read.get(BigInt(position)) as { own: string } | undefined)?.own ?? null;
}
