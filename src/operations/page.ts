/** The answer of every operation: `data`, `pagination`, `meta`, as finished JSON. */
import type { DatasetParts } from "#search/dataset-parts.ts";
import { documentCount, type Documents } from "#search/documents.ts";
import type { ReadModel } from "#search/read-model.ts";
import { hintsFor } from "./hints.ts";
import type { Operation, Query } from "./operation.ts";
import { apiVersion } from "./versions.ts";

export interface Page {
  body: Buffer;
  total: number;
  returned: number;
}

/** Runs a query on one dataset; the answer depends on nothing else. */
export function answer(operation: Operation, model: ReadModel, query: Query): Page {
  const selection = operation.select(model, query);
  const { total, positions } = selection;
  const body = beginBody();
  const isOfGps = operation.kind === "gp";
  const documents = model.parts.documents[operation.kind];
  body.text('{"data":[');
  positions.forEach((position, i) => {
    if (i > 0) body.text(",");
    if (isOfGps) writeGp(body, model.parts, position);
    else body.copy(documents, documents.starts[position]!, documents.starts[position + 1]!);
  });
  const { limit, offset } = query;
  const returned = positions.length;
  const hasMore = offset + returned < total && returned > 0;
  const pagination = {
    limit,
    offset,
    returned,
    total,
    has_more: hasMore,
    next_offset: hasMore ? offset + returned : null,
  };
  const meta = {
    api_version: apiVersion,
    dataset_version: model.parts.version,
    dataset_updated_at: model.parts.updatedAt,
    hints: hintsFor(model, query, selection, isOfGps && isCut(model.parts, positions)),
  };
  body.text(`],"pagination":${JSON.stringify(pagination)},"meta":${JSON.stringify(meta)}}`);
  return { body: body.finish(), total, returned };
}

/** How many records of each kind a dataset has. */
export const recordCounts = ({ parts: { documents } }: ReadModel) => ({
  gp: documentCount(documents.gp),
  principal: documentCount(documents.principal),
  signal: documentCount(documents.signal),
  project: documentCount(documents.project),
});

/** Most records of one kind that a GP embeds. */
const embeddedMax = 100;

const embeddedList = (kind: "principal" | "signal") => ({
  kind,
  opening: Buffer.from(`,"${kind}s":[`),
  closing: Buffer.from(`],"${kind}s_total":`),
});
const embeddedLists = [embeddedList("principal"), embeddedList("signal")];

const comma = Buffer.from(",");
const brace = Buffer.from("}");

function writeGp(body: BodyWriter, parts: DatasetParts, gp: number): void {
  const { starts, ownLengths } = parts.documents.gp;
  body.copy(parts.documents.gp, starts[gp]!, starts[gp]! + ownLengths[gp]!);
  for (const list of embeddedLists) writeList(body, parts, list, gp);
  body.bytes(brace);
}

function writeList(
  body: BodyWriter,
  parts: DatasetParts,
  { kind, opening, closing }: (typeof embeddedLists)[number],
  gp: number,
): void {
  const { starts: firsts, items: records } = parts.recordsOfGp[kind];
  const first = firsts[gp]!;
  const total = firsts[gp + 1]! - first;
  const documents = parts.documents[kind];
  const { starts, ownLengths } = documents;
  body.bytes(opening);
  for (let i = 0; i < Math.min(total, embeddedMax); i++) {
    const record = records[first + i]!;
    if (i > 0) body.bytes(comma);
    body.copy(documents, starts[record]!, starts[record]! + ownLengths[record]!);
    body.bytes(brace);
  }
  body.bytes(closing);
  body.text(String(total));
}

/** Has one of the GPs more principals or signals than it embeds? */
const isCut = ({ recordsOfGp }: DatasetParts, gps: readonly number[]): boolean =>
  embeddedLists.some(({ kind }) => {
    const { starts } = recordsOfGp[kind];
    return gps.some((gp) => starts[gp + 1]! - starts[gp]! > embeddedMax);
  });

/** Assembles a body from stored documents and a little text. */
interface BodyWriter {
  text(text: string): void;
  /** Adds a few bytes one by one, ten times as fast as text. */
  bytes(bytes: Uint8Array): void;
  /** Copies bytes `from` up to `to` of the documents. */
  copy(documents: Documents, from: number, to: number): void;
  /** The body is a slice of a shared block: copy it to keep it for long. */
  finish(): Buffer;
}

/**
 * Bodies are allocated one after another in blocks: a buffer for each would trigger a garbage collection every few
 * dozen answers. No larger, because a slow client keeps the whole block of its body alive.
 */
const blockBytes = 256 * 1024;
let block = Buffer.allocUnsafeSlow(blockBytes);
/** Where the next body begins. */
let free = 0;

/** One body at a time: beginning another discards one that is unfinished. */
function beginBody(): BodyWriter {
  let start = free;
  let end = free;
  const makeRoom = (bytes: number) => {
    if (end + bytes <= block.length) return;
    const begun = block.subarray(start, end);
    block = Buffer.allocUnsafeSlow(Math.max(blockBytes, (begun.length + bytes) * 2));
    block.set(begun);
    start = 0;
    end = begun.length;
  };
  return {
    text(text) {
      makeRoom(text.length * 3);
      end += block.write(text, end);
    },
    bytes(bytes) {
      makeRoom(bytes.length);
      for (let i = 0; i < bytes.length; i++) block[end++] = bytes[i]!;
    },
    copy({ bytes }, from, to) {
      makeRoom(to - from);
      block.set(bytes.subarray(from, to), end);
      end += to - from;
    },
    finish() {
      free = end;
      return block.subarray(start, end);
    },
  };
}
