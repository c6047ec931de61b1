/** Finished JSON of all records in one array of bytes: its places in the file and in memory. */
import { type EachKind, embeddedKinds, eachOf, recordKinds } from "#records/kinds.ts";
import type { Lists } from "./lists.ts";
import { bufferOver } from "./packed-texts.ts";

/** Places of the documents of a kind among all of their kind, in display order. */
export interface DocumentPlaces {
  /** Document i begins at `starts[i]` and ends before `starts[i + 1]`. All may exceed 4 GiB, so 32 bits are too few. */
  starts: Float64Array;
  /** Bytes of document i before the part left out inside a GP: its `gps`, and a principal's inherited members. */
  ownLengths: Uint32Array;
}

/** The documents of a kind in memory. GPs are without their principals and signals, which operations/page.ts embeds. */
export interface Documents {
  /** Bytes of the documents of all kinds. */
  bytes: Uint8Array;
  /** Document i begins at `starts[i]` and has `lengths[i]` bytes. They are in no order. */
  starts: Float64Array;
  lengths: Uint32Array;
  /** The same as in `DocumentPlaces`. */
  ownLengths: Uint32Array;
}

export const documentCount = ({ ownLengths }: Pick<DocumentPlaces, "ownLengths">) =>
  ownLengths.length;

/** Returns the total size in bytes. */
const documentBytes = ({ starts }: DocumentPlaces) => starts.at(-1)!;

/**
 * Returns the places of documents.
 * @param lengths bytes of UTF-8 of each document.
 * @param ownLengths see `DocumentPlaces`.
 */
export function placeDocuments(lengths: Uint32Array, ownLengths: Uint32Array): DocumentPlaces {
  const starts = new Float64Array(lengths.length + 1);
  lengths.forEach((length, i) => (starts[i + 1] = starts[i]! + length));
  return { starts, ownLengths };
}

/**
 * Makes room for all documents, still empty. Principals and signals follow the GP that embeds them, or the first of several.
 * At random places the processor would fetch each from memory alone, which takes several times as long as copying it.
 */
export function makeRoom(
  stored: EachKind<DocumentPlaces>,
  recordsOfGp: Readonly<Record<(typeof embeddedKinds)[number], Lists>>,
): EachKind<Documents> {
  const size = recordKinds.reduce((sum, kind) => sum + documentBytes(stored[kind]), 0);
  const bytes = new Uint8Array(size);
  const made = eachOf(recordKinds, (kind) => unplaced(bytes, stored[kind]));
  const { gp: gps } = made;
  let end = 0;
  for (let gp = 0; gp < documentCount(gps); gp++) {
    gps.starts[gp] = end;
    end += gps.lengths[gp]!;
    for (const kind of embeddedKinds) end = placeLinked(made[kind], recordsOfGp[kind], gp, end);
  }
  for (const kind of recordKinds) end = placeOthers(made[kind], end);
  return made;
}

/** Places the records of a GP behind it. Returns where the next document begins. */
function placeLinked(documents: Documents, { starts, items }: Lists, gp: number, end: number) {
  const last = starts[gp + 1]!;
  let next = end;
  for (let i = starts[gp]!; i < last; i++) {
    const at = items[i]!;
    if (documents.starts[at] !== -1) continue;
    documents.starts[at] = next;
    next += documents.lengths[at]!;
  }
  return next;
}

/** Places the documents that no GP embeds. */
function placeOthers({ starts, lengths }: Documents, end: number): number {
  let next = end;
  for (let at = 0; at < lengths.length; at++) {
    if (starts[at] !== -1) continue;
    starts[at] = next;
    next += lengths[at]!;
  }
  return next;
}

function unplaced(bytes: Documents["bytes"], { starts, ownLengths }: DocumentPlaces): Documents {
  const lengths = new Uint32Array(ownLengths.length);
  for (let at = 0; at < lengths.length; at++) lengths[at] = starts[at + 1]! - starts[at]!;
  return { bytes, starts: new Float64Array(lengths.length).fill(-1), lengths, ownLengths };
}

/** Reads documents. @param positions each below the number of documents. */
export const readDocuments = <R>(
  { bytes, starts, lengths }: Documents,
  positions: readonly number[],
): R[] =>
  positions.map(
    (at) =>
      JSON.parse(bufferOver(bytes).toString("utf8", starts[at], starts[at]! + lengths[at]!)) as R,
  );
