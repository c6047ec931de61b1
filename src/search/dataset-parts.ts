/** Parts of a dataset in memory: arrays of numbers, made at import and only read from then on. */
import type { EachKind, LinkedKind } from "#records/kinds.ts";
import type { DocumentPlaces, Documents } from "./documents.ts";
import type { FacetIndex } from "./facet-index.ts";
import type { IdIndex } from "./id-index.ts";
import type { SuggestionIndex } from "./index-suggestions.ts";
import type { Lists } from "./lists.ts";
import type { NameIndex } from "./name-index.ts";

/** Facets of GPs, besides their names: each a list of whole values with its own index. */
export const facetNames = ["tag", "theme", "market"] as const;
export type FacetName = (typeof facetNames)[number];

/** Index of a dataset's records. It is stored with them, as making it takes longer than reading it. */
export interface DatasetIndex {
  documents: EachKind<DocumentPlaces>;
  names: NameIndex;
  nameSuggestions: SuggestionIndex;
  facets: Readonly<Record<FacetName, FacetIndex>>;
  ids: IdIndex;
  /** GP → positions of its records of a kind, ascending and so in display order. */
  recordsOfGp: Readonly<Record<LinkedKind, Lists>>;
}

/** A whole dataset, in arrays of numbers. */
export interface DatasetParts extends Omit<DatasetIndex, "documents"> {
  version: string;
  /** Time the dataset was built, RFC 3339. */
  updatedAt: string;
  documents: EachKind<Documents>;
}
