/** The vocabulary of a dataset: every tag, theme and market with its number of GPs, and the closed lists with their meanings. */
import { list, text, whole } from "#records/fields.ts";
import { filterableGp } from "#records/gp.ts";
import { type Static, Type } from "#records/schema.ts";
import { valueLists } from "#records/value-lists.ts";
import { type DatasetParts, type FacetName, facetNames } from "#search/dataset-parts.ts";
import { listFacetValues } from "#search/facet-values.ts";
import type { Meta } from "./envelope.ts";
import { metaOf } from "./page.ts";

const CountedValue = Type.Object({
  value: text("The value, as a query asks for it."),
  gps_total: whole("Number of GPs that a query for it finds.", 1),
  spellings: list(
    "Other spellings that find it, and perhaps other values, too: the cities of a market. Most values have none.",
    Type.String(),
  ),
});
type CountedValue = Static<typeof CountedValue>;

const Enum = Type.Object({
  members: list(
    "Members that take their values from it; for `external_ids`, their names.",
    text(""),
  ),
  values: list(
    "Values in the order of the reference; a minor version may add some.",
    Type.Object({ value: text("The value."), meaning: text("Its meaning, in one sentence.") }),
  ),
});
type Enum = Static<typeof Enum>;

export const vocabularyPath = "/vocabulary";
export const vocabularySummary =
  "Every tag, theme and market with its number of GPs, and the closed lists of values.";

type ListName = `${FacetName}s`;
const listNameOf = (facet: FacetName): ListName => `${facet}s`;

/** Makes a list for each facet, by the facet's name in the plural. */
const forEachFacet = <T>(make: (facet: FacetName) => T) =>
  Object.fromEntries(facetNames.map((facet) => [listNameOf(facet), make(facet)])) as Record<
    ListName,
    T
  >;

/** Schema of the data, for the reference. */
export const VocabularyData = Type.Object({
  ...forEachFacet((facet) =>
    list(
      `Values that \`${facet}\` finds, most GPs first. ${filterableGp[facet].meaning}`,
      CountedValue,
    ),
  ),
  enums: list("Closed lists of values.", Enum),
});

export interface Vocabulary {
  data: Readonly<Record<ListName, readonly CountedValue[]>> & { readonly enums: readonly Enum[] };
  meta: Meta;
}

const enums: readonly Enum[] = valueLists.map(({ members, values }) => ({
  members: [...members],
  values: [...values],
}));

const known = new WeakMap<DatasetParts, Vocabulary>();

/** Returns the vocabulary, counted when it is first needed and kept as long as the dataset. */
export function vocabularyOf(parts: DatasetParts): Vocabulary {
  let vocabulary = known.get(parts);
  if (vocabulary === undefined) {
    const counted = forEachFacet((facet) =>
      listFacetValues(parts, facet).map(({ value, gpCount, spellings }): CountedValue => ({
        value,
        gps_total: gpCount,
        spellings: [...spellings],
      })),
    );
    vocabulary = { data: { ...counted, enums }, meta: metaOf(parts, []) };
    known.set(parts, vocabulary);
  }
  return vocabulary;
}
