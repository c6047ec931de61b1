/** The finished JSON of all records of one kind, in display order, in one array of bytes. */
import { bufferOver } from "./packed-texts.ts";

/** Where each document stands. */
export interface DocumentPlaces {
  /** Document i begins at `starts[i]` and ends before `starts[i + 1]`; not 32 bits, since all may exceed 4 GiB. */
  starts: Float64Array;
  /** Bytes of document i before what it leaves out inside a GP: its `gps`, and for a principal what it inherits. */
  ownLengths: Uint32Array;
}

/** GPs are stored without their principals and signals, which operations/page.ts embeds. */
export interface Documents extends DocumentPlaces {
  bytes: Uint8Array;
}

export const documentCount = ({ ownLengths }: DocumentPlaces) => ownLengths.length;

/** Total size in bytes. */
export const documentBytes = ({ starts }: DocumentPlaces) => starts.at(-1)!;

/**
 * @param lengths bytes of UTF-8 of each document.
 * @param ownLengths see `DocumentPlaces`.
 */
export function placeDocuments(
  lengths: readonly number[],
  ownLengths: readonly number[],
): DocumentPlaces {
  const starts = new Float64Array(lengths.length + 1);
  lengths.forEach((length, i) => (starts[i + 1] = starts[i]! + length));
  return { starts, ownLengths: Uint32Array.from(ownLengths) };
}

/** @param positions each below the number of documents. */
export const readDocuments = <R>({ bytes, starts }: Documents, positions: readonly number[]): R[] =>
  positions.map(
    (at) => JSON.parse(bufferOver(bytes).toString("utf8", starts[at], starts[at + 1])) as R,
  );
