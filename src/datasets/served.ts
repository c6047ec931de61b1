/** Loads the served part of a generation and verifies its checksums, so that no damaged byte is served. */
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import {
  type DatasetIndex,
  type DatasetParts,
  documentCount,
  type Documents,
  makeRoom,
} from "#search/dataset-parts.ts";
import type { Generation, Meta } from "./generation.ts";
import {
  openAs,
  otherFileWords,
  otherSizeWords,
  readSources,
  refusalOf,
} from "./open-generation.ts";
import { free, readArrays, treeOf, type StoredArray } from "./stored-arrays.ts";

/**
 * Loads a generation. Reads and checks only the served bytes: hashing the whole file would take several times as long.
 * @param path file of the generation.
 * @param expected facts of the file in the catalogue.
 * @throws DatasetFault if size, version, time or served bytes are not the published ones, or the file cannot be read.
 */
export function loadGeneration(path: string, expected: Generation): DatasetParts {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size;
  if (bytes !== undefined && bytes !== expected.bytes)
    throw refusalOf(path, otherSizeWords(bytes, expected));
  const { db, meta } = openAs(path, expected);
  using _ = db;
  try {
    const { index, documents } = readServed(db, meta);
    const { version, built_at: updatedAt } = meta;
    return { ...index, documents, version, updatedAt, sources: readSources(db) };
  } catch (error) {
    throw refusalOf(path, otherFileWords((error as Error).message));
  }
}

/**
 * Reads the served part.
 * @throws Error if a checksum is not the one in `meta`, or the documents are longer than the index says.
 */
function readServed(db: DatabaseSync, meta: Meta) {
  const arrays = [...readArrays(db)];
  if (indexChecksum(arrays) !== meta.index_crc32)
    throw new Error("the checksum of its index differs");
  const index = treeOf(arrays) as DatasetIndex;
  const documents = makeRoom(index.documents, index.recordsOfGp);
  let crc = 0;
  // By kind and then by position, which is the order of the checksum.
  for (const kind of recordKinds) {
    const pieceOf = openPieces(db, kind, "document");
    for (let from = 0; from < documentCount(documents[kind]); from += documentsOfPiece) {
      const piece = pieceOf(from, from + documentsOfPiece - 1);
      fill(documents[kind], from, piece);
      crc = crc32(piece, crc);
      free(piece);
    }
  }
  if (hexadecimal(crc) !== meta.documents_crc32)
    throw new Error("the checksum of its documents differs");
  return { index, documents };
}

/** Copies the documents of a piece to their places. @param from position of the piece's first document. */
function fill({ bytes, starts, lengths }: Documents, from: number, piece: Uint8Array): void {
  const last = Math.min(from + documentsOfPiece, lengths.length) - 1;
  for (let at = from, end = 0; end < piece.length; at++) {
    if (at > last) throw new Error("its documents are longer than its index says");
    const start = end;
    end += lengths[at]!;
    bytes.set(piece.subarray(start, end), starts[at]);
  }
}

/** Returns a CRC-32 in the form that `meta` contains. */
export const hexadecimal = (crc: number) => crc.toString(16).padStart(8, "0");

export function indexChecksum(arrays: Iterable<StoredArray>): string {
  let crc = 0;
  for (const { name, element, bytes } of arrays)
    crc = crc32(bytes, crc32(`${name} ${element} `, crc));
  return hexadecimal(crc);
}

/**
 * Maximum number of documents in a piece. SQLite joins this many almost as fast as it reads one, and they fit in the
 * CPU cache.
 */
const documentsOfPiece = 256;

/**
 * Returns a function that reads and joins the values of a column from one position to another, both included. The
 * function returns bytes, because decoding and encoding them again would take as long as everything else.
 */
export function openPieces(
  db: DatabaseSync,
  kind: RecordKind,
  column: "document" | "content_hash",
): (from: number, to: number) => Buffer<ArrayBuffer> {
  const statement = db.prepare(
    `select cast(group_concat(${column}, '') as blob) from ${kind} where position between ? and ?`,
  );
  statement.setReturnArrays(true);
  return (from, to) => {
    const row = statement.get(BigInt(from), BigInt(to)) as unknown as [Uint8Array | null];
    const { buffer, byteOffset, length } = row[0] ?? new Uint8Array();
    return Buffer.from(buffer as ArrayBuffer, byteOffset, length);
  };
}
