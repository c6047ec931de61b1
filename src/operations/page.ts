/** Writes operations' pages from finished JSON: `data`, `pagination` and `meta`, or only records, one per line. */
import { embeddedKinds, eachOf, recordKinds } from "#records/kinds.ts";
import { type DatasetParts, documentCount, type Documents } from "#search/dataset-parts.ts";
import { bufferOver } from "#search/packed-texts.ts";
import type { Bounds, ReadModel } from "#search/read-model.ts";
import type { Hint, Meta, Pagination } from "./envelope.ts";
import { hintsFor } from "./hints.ts";
import type { Operation, Query } from "./operation.ts";
import { apiVersion } from "./versions.ts";

export interface Page {
  body: Buffer;
  total: number;
}

/** Answers a query from one dataset. The answer depends only on these arguments. */
export function answer(operation: Operation, model: ReadModel, query: Query): Page {
  const selection = model.select(operation.kind, query.filter, query, query.order);
  const { total, positions } = selection;
  const body = beginBody(model.parts.documents[operation.kind].bytes);
  body.bytes(opening);
  writeRecords(body, model.parts, operation, positions, comma);
  const pagination = paginationOf(query, positions.length, total);
  const hints = hintsFor(
    model,
    query,
    selection,
    operation.kind === "gp" && operation.embeds && embedsTooFew(model.parts, positions),
  );
  const meta = metaOf(model.parts, hints);
  body.text(`],"pagination":${JSON.stringify(pagination)},"meta":${JSON.stringify(meta)}}`);
  return { body: body.finish(), total };
}

/** Returns the pagination of a page. @param returned number of entries on it. @param total number on all pages. */
export function paginationOf(
  { limit, offset }: Bounds,
  returned: number,
  total: number,
): Pagination {
  const has_more = offset + returned < total && returned > 0;
  const next_offset = has_more ? offset + returned : null;
  return { limit, offset, returned, total, has_more, next_offset };
}

export const metaOf = ({ version, updatedAt }: DatasetParts, hints: Hint[]): Meta => ({
  api_version: apiVersion,
  dataset_version: version,
  dataset_updated_at: updatedAt,
  hints,
});

/** Returns the JSON of a record, as in `data`. @param embeds true if a GP comes with its principals and signals. */
export function recordText(
  parts: DatasetParts,
  kind: Operation["kind"],
  position: number,
  embeds: boolean,
): string {
  const body = beginBody(parts.documents[kind].bytes);
  writeRecords(body, parts, { kind, embeds }, [position], comma);
  return body.finish().toString();
}

/** Answers with only the records, one per line, byte for byte as in `data`. */
export function answerLines(operation: Operation, model: ReadModel, query: Query): Page {
  const { kind } = operation;
  const { total, positions } = model.select(kind, query.filter, query, query.order);
  const body = beginBody(model.parts.documents[operation.kind].bytes);
  writeRecords(body, model.parts, operation, positions, lineFeed);
  if (positions.length > 0) body.byte(lineFeed);
  return { body: body.finish(), total };
}

export const recordCounts = ({ parts: { documents } }: ReadModel) =>
  eachOf(recordKinds, (kind) => documentCount(documents[kind]));

/** Maximum number of records of one kind that a GP embeds. */
export const embeddedMax = 100;

const embeddedLists = embeddedKinds.map((kind) => ({
  kind,
  opening: Buffer.from(`,"${kind}s":[`),
  closing: Buffer.from(`],"${kind}s_total":`),
  totalOpening: Buffer.from(`,"${kind}s_total":`),
}));

/** JSON of the members that are missing from GPs in datasets older than funds. */
export const noFunds = ',"funds":[],"funds_total":0';
const fundsOpening = Buffer.from(',"funds":[');
const opening = Buffer.from('{"data":[');
const [comma, brace, lineFeed] = [0x2c, 0x7d, 0x0a];

/** Writes records. @param separator byte between two records. */
function writeRecords(
  body: BodyWriter,
  parts: DatasetParts,
  { kind, embeds }: Pick<Operation, "kind" | "embeds">,
  positions: readonly number[],
  separator: number,
): void {
  const isOfGps = kind === "gp";
  const documents = parts.documents[kind];
  const isWithoutFunds = isOfGps && positions.length > 0 && lacksFunds(documents, positions[0]!);
  for (let i = 0; i < positions.length; i++) {
    const position = positions[i]!;
    if (i > 0) body.byte(separator);
    if (isOfGps) {
      body.copy(documents.starts[position]!, documents.ownLengths[position]!);
      if (isWithoutFunds) body.text(noFunds);
      for (const list of embeddedLists)
        if (embeds) writeList(body, parts, list, position);
        else writeTotal(body, parts, list, position);
      body.byte(brace);
    } else body.copy(documents.starts[position]!, documents.lengths[position]!);
  }
}

/** Reports whether a GP is from a dataset that is older than funds. */
const lacksFunds = ({ starts, ownLengths }: Documents, gp: number): boolean =>
  !source.subarray(starts[gp], starts[gp]! + ownLengths[gp]!).includes(fundsOpening);

function writeList(
  body: BodyWriter,
  parts: DatasetParts,
  { kind, opening, closing }: (typeof embeddedLists)[number],
  gp: number,
): void {
  const { starts: firsts, items: records } = parts.recordsOfGp[kind];
  const first = firsts[gp]!;
  const total = firsts[gp + 1]! - first;
  const { starts, ownLengths } = parts.documents[kind];
  body.bytes(opening);
  for (let i = 0; i < Math.min(total, embeddedMax); i++) {
    const record = records[first + i]!;
    if (i > 0) body.byte(comma);
    body.copy(starts[record]!, ownLengths[record]!);
    body.byte(brace);
  }
  body.bytes(closing);
  body.number(total);
}

function writeTotal(
  body: BodyWriter,
  { recordsOfGp }: DatasetParts,
  { kind, totalOpening }: (typeof embeddedLists)[number],
  gp: number,
): void {
  const { starts } = recordsOfGp[kind];
  body.bytes(totalOpening);
  body.number(starts[gp + 1]! - starts[gp]!);
}

/** Reports whether any of the GPs has more principals or signals than it embeds. */
export const embedsTooFew = ({ recordsOfGp }: DatasetParts, gps: readonly number[]): boolean =>
  embeddedLists.some(({ kind }) => {
    const { starts } = recordsOfGp[kind];
    return gps.some((gp) => starts[gp + 1]! - starts[gp]! > embeddedMax);
  });

/**
 * Minimum size of a block, in bytes. Bodies are allocated in it one after another, because a buffer for each would
 * trigger a garbage collection every few dozen answers. It is no larger, because a slow client keeps the whole block
 * with its body in memory.
 */
const blockBytes = 256 * 1024;
let block = Buffer.allocUnsafeSlow(blockBytes);
/** Start of the current body in the block, and its end so far. */
let start = 0;
let end = 0;
/** Bytes of all documents while a body is written. A Buffer, because `copy`, unlike `set`, needs no view of a part. */
let source = block;

/** Begins a body and discards an unfinished one. @param documents bytes of all documents. */
function beginBody(documents: Uint8Array): BodyWriter {
  source = bufferOver(documents);
  end = start;
  return writer;
}

function enlarge(bytes: number): void {
  const begun = block.subarray(start, end);
  block = Buffer.allocUnsafeSlow(Math.max(blockBytes, (begun.length + bytes) * 2));
  block.set(begun);
  start = 0;
  end = begun.length;
}

type BodyWriter = typeof writer;

/**
 * Writer of bodies from stored documents and a little text. All bodies share it, because V8 inlines it into its callers
 * only if it is always the same object.
 */
const writer = {
  text(text: string): void {
    if (end + text.length * 3 > block.length) enlarge(text.length * 3);
    end += block.write(text, end);
  },
  byte(byte: number): void {
    if (end === block.length) enlarge(1);
    block[end++] = byte;
  },
  /** Adds a few bytes one by one, which is ten times as fast as adding them as text. */
  bytes(bytes: Uint8Array): void {
    if (end + bytes.length > block.length) enlarge(bytes.length);
    const [target, at] = [block, end];
    for (let i = 0; i < bytes.length; i++) target[at + i] = bytes[i]!;
    end += bytes.length;
  },
  /** Adds a non-negative whole number in decimal digits. */
  number(value: number): void {
    if (value >= 10) writer.number(Math.floor(value / 10));
    writer.byte(0x30 + (value % 10));
  },
  /** Copies `length` bytes of the documents, from the offset `from`. */
  copy(from: number, length: number): void {
    if (end + length > block.length) enlarge(length);
    // Node 24, on which the library runs, would copy from the offset modulo 2^32.
    if (from < 2 ** 32) source.copy(block, end, from, from + length);
    else block.set(source.subarray(from, from + length), end);
    end += length;
  },
  /** Returns the body, which is a slice of a shared block. Copy it to keep it for long. */
  finish(): Buffer {
    const body = block.subarray(start, end);
    start = end;
    source = block;
    return body;
  },
};
