/** The finished JSON of all records in one array of bytes: how it is stored, and how it lies in memory. */
import type { Lists } from "./lists.ts";
import { bufferOver } from "./packed-texts.ts";

/** Where each document of a kind stands among all of its kind, in display order. */
export interface DocumentPlaces {
  /** Document i begins at `starts[i]` and ends before `starts[i + 1]`; not 32 bits, since all may exceed 4 GiB. */
  starts: Float64Array;
  /** Bytes of document i before what it leaves out inside a GP: its `gps`, and for a principal what it inherits. */
  ownLengths: Uint32Array;
}

/** The documents of a kind in memory. GPs are without their principals and signals, which operations/page.ts embeds. */
export interface Documents {
  /** Shared by all kinds. */
  bytes: Uint8Array;
  /** Document i begins at `starts[i]` and has `lengths[i]` bytes; they stand in no order. */
  starts: Float64Array;
  lengths: Uint32Array;
  /** As stored. */
  ownLengths: Uint32Array;
}

export type EachKind<T> = Readonly<Record<"gp" | "principal" | "signal" | "project", T>>;

export const documentCount = ({ ownLengths }: Pick<DocumentPlaces, "ownLengths">) =>
  ownLengths.length;

/** Total size in bytes. */
const documentBytes = ({ starts }: DocumentPlaces) => starts.at(-1)!;

/**
 * @param lengths bytes of UTF-8 of each document.
 * @param ownLengths see `DocumentPlaces`.
 */
export function placeDocuments(lengths: Uint32Array, ownLengths: Uint32Array): DocumentPlaces {
  const starts = new Float64Array(lengths.length + 1);
  lengths.forEach((length, i) => (starts[i + 1] = starts[i]! + length));
  return { starts, ownLengths };
}

/**
 * Room for all documents, still empty. Principals and signals stand behind the GP that embeds them, the first if there are
 * several: at random places each would have to be fetched from memory by itself, which takes several times as long as to copy it.
 */
export function makeRoom(
  stored: EachKind<DocumentPlaces>,
  recordsOfGp: Readonly<Record<"principal" | "signal", Lists>>,
): EachKind<Documents> {
  const kinds = ["gp", "principal", "signal", "project"] as const;
  const size = kinds.reduce((sum, kind) => sum + documentBytes(stored[kind]), 0);
  const bytes = new Uint8Array(size);
  const made = Object.fromEntries(
    kinds.map((kind) => [kind, unplaced(bytes, stored[kind])]),
  ) as EachKind<Documents>;
  const { gp: gps, principal, signal } = made;
  let end = 0;
  for (let gp = 0; gp < documentCount(gps); gp++) {
    gps.starts[gp] = end;
    end += gps.lengths[gp]!;
    end = placeLinked(principal, recordsOfGp.principal, gp, end);
    end = placeLinked(signal, recordsOfGp.signal, gp, end);
  }
  for (const kind of kinds) end = placeOthers(made[kind], end);
  return made;
}

/** @returns where the next document begins. */
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

/** Documents that no GP embeds. */
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

/** @param positions each below the number of documents. */
export const readDocuments = <R>(
  { bytes, starts, lengths }: Documents,
  positions: readonly number[],
): R[] =>
  positions.map(
    (at) =>
      JSON.parse(bufferOver(bytes).toString("utf8", starts[at], starts[at]! + lengths[at]!)) as R,
  );
