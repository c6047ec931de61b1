/** Parts of a dataset in memory: its index in arrays of numbers, and the finished JSON of all records as bytes. */
import type { Sources } from "#records/common.ts";
import {
  type EachKind,
  embeddedKinds,
  eachOf,
  type LinkedKind,
  recordKinds,
} from "#records/kinds.ts";
import type { FacetIndex } from "./facet-index.ts";
import type { Lists } from "./lists.ts";
import type { IdIndex, NameIndex } from "./name-index.ts";
import { bufferOver } from "./packed-texts.ts";
import type { SuggestionIndex } from "./suggestions.ts";

/** Facets of GPs: members with several values, each matched as a whole. Each facet has its own index. */
export const facetNames = ["tag", "theme", "market"] as const;
export type FacetName = (typeof facetNames)[number];

/** Index of a dataset's records. It is stored with them, because making it takes longer than reading it. */
export interface DatasetIndex {
  documents: EachKind<DocumentPlaces>;
  names: NameIndex;
  nameSuggestions: SuggestionIndex;
  facets: Readonly<Record<FacetName, FacetIndex>>;
  ids: IdIndex;
  /** GP → positions of its records of a kind, ascending and therefore in display order. */
  recordsOfGp: Readonly<Record<LinkedKind, Lists>>;
}

/** A whole dataset in memory. */
export interface DatasetParts extends Omit<DatasetIndex, "documents"> {
  version: string;
  /** Time when the dataset was built, in RFC 3339. */
  updatedAt: string;
  sources: Sources;
  documents: EachKind<Documents>;
}

/** Places of a kind's documents, which are stored one after another in display order. */
export interface DocumentPlaces {
  /** Document i begins at byte `starts[i]` and ends before `starts[i + 1]`. Places may exceed 32 bits. */
  starts: Float64Array;
  /** Length of document i up to and including `updated_at`, in bytes. Members from other records follow. */
  ownLengths: Uint32Array;
}

/** A kind's documents in memory. GPs lack their principals and signals, which operations/page.ts embeds. */
export interface Documents {
  /** Bytes of the documents of all kinds. */
  bytes: Uint8Array;
  /** Document i begins at byte `starts[i]` and has `lengths[i]` bytes. `makeRoom` explains the order. */
  starts: Float64Array;
  lengths: Uint32Array;
  /** Length of document i up to and including `updated_at`, in bytes. */
  ownLengths: Uint32Array;
}

export const documentCount = ({ ownLengths }: Pick<DocumentPlaces, "ownLengths">) =>
  ownLengths.length;

/** Returns the places of documents that are stored one after another. @param lengths their sizes, in bytes. */
export function placeDocuments(lengths: Uint32Array, ownLengths: Uint32Array): DocumentPlaces {
  const starts = new Float64Array(lengths.length + 1);
  lengths.forEach((length, i) => (starts[i + 1] = starts[i]! + length));
  return { starts, ownLengths };
}

/**
 * Allocates memory for all documents and gives each its place. Principals and signals follow the first GP that they
 * belong to. The processor would fetch scattered documents separately from memory, which takes several times as long as
 * copying them.
 */
export function makeRoom(
  stored: EachKind<DocumentPlaces>,
  recordsOfGp: Readonly<Record<(typeof embeddedKinds)[number], Lists>>,
): EachKind<Documents> {
  const size = recordKinds.reduce((sum, kind) => sum + stored[kind].starts.at(-1)!, 0);
  const bytes = new Uint8Array(size);
  const made = eachOf(recordKinds, (kind): Documents => {
    const { starts, ownLengths } = stored[kind];
    const lengths = new Uint32Array(ownLengths.length).map(
      (_, at) => starts[at + 1]! - starts[at]!,
    );
    return { bytes, starts: new Float64Array(lengths.length).fill(-1), lengths, ownLengths };
  });
  let end = 0;
  const place = ({ starts, lengths }: Documents, at: number) => {
    if (starts[at] !== -1) return;
    starts[at] = end;
    end += lengths[at]!;
  };
  for (let gp = 0; gp < documentCount(made.gp); gp++) {
    place(made.gp, gp);
    for (const kind of embeddedKinds) {
      const { starts, items } = recordsOfGp[kind];
      for (let i = starts[gp]!; i < starts[gp + 1]!; i++) place(made[kind], items[i]!);
    }
  }
  for (const kind of recordKinds)
    for (let at = 0; at < documentCount(made[kind]); at++) place(made[kind], at);
  return made;
}

/** Parses documents. @param positions each below the number of documents. */
export const readDocuments = <R>(
  { bytes, starts, lengths }: Documents,
  positions: readonly number[],
): R[] =>
  positions.map(
    (at) =>
      JSON.parse(bufferOver(bytes).toString("utf8", starts[at], starts[at]! + lengths[at]!)) as R,
  );
