/** A dataset's vocabulary: tags, themes and markets with their numbers of GPs, and closed lists with meanings. */
import { list, text, whole } from "#records/fields.ts";
import { filterableGp } from "#records/gp.ts";
import { type Static, Type } from "#records/schema.ts";
import { type ValueList, valueLists } from "#records/declarations.ts";
import { type FacetName, facetNames } from "#search/dataset-parts.ts";
import { getOrCompute } from "#search/get-or-compute.ts";
import { spellingsOfMarket } from "#search/market-spellings.ts";
import type { ReadModel } from "#search/read-model.ts";
import type { Meta } from "./envelope.ts";
import { metaOf } from "./page.ts";

const CountedValue = Type.Object({
  value: text("The value, as you give it in a query."),
  gps_total: whole("Number of GPs that a query for the value finds.", 1),
  spellings: list(
    "Other spellings that find the value: the cities of a market. A spelling may also find other values. Most values have none.",
    Type.String(),
  ),
});
type CountedValue = Static<typeof CountedValue>;

const Enum = Type.Object({
  members: list(
    "Members that take their values from the list; for `external_ids`, the names of its members.",
    text("Name of a member, such as `signal.type`."),
  ),
  values: list(
    "Values in the order of the reference; a minor version of the API may add some.",
    Type.Object({ value: text("The value."), meaning: text("Meaning of the value.") }),
  ),
});

export const vocabularyPath = "/vocabulary";
export const vocabularySummary =
  "Every tag, theme and market with its number of GPs, and the closed lists of values.";

type ListName = `${FacetName}s`;

/** Makes a list for each facet, under the facet's name in the plural. */
const forEachFacet = <T>(make: (facet: FacetName) => T) =>
  Object.fromEntries(facetNames.map((facet) => [`${facet}s`, make(facet)])) as Record<ListName, T>;

/** Schema of `data`, for the reference. */
export const VocabularyData = Type.Object({
  ...forEachFacet((facet) =>
    list(
      `Values of \`${facet}\`, those with the most GPs first. ${filterableGp[facet].meaning}`,
      CountedValue,
    ),
  ),
  enums: list("Closed lists of values.", Enum),
});

export interface Vocabulary {
  data: Readonly<Record<ListName, readonly CountedValue[]>> & {
    readonly enums: readonly ValueList[];
  };
  meta: Meta;
}

const known = new WeakMap<ReadModel, Vocabulary>();

/** Returns the vocabulary. It is made when first needed, and kept as long as the read model. */
export const vocabularyOf = (model: ReadModel): Vocabulary =>
  getOrCompute(known, model, () => ({
    data: { ...forEachFacet((facet) => countValues(model, facet)), enums: valueLists },
    meta: metaOf(model.parts, []),
  }));

/** Lists the values that GPs carry, most GPs first, then in byte order of the folded values. */
function countValues(model: ReadModel, facet: FacetName): CountedValue[] {
  const values = model.values("gp", facet);
  const counts = model.count("gp", facet, values, {});
  const spellingsOf = (value: string) => (facet === "market" ? spellingsOfMarket(value) : []);
  return values
    .map((value, i) => {
      const [, ...others] = spellingsOf(value).map(({ shown }) => shown);
      return { value, gps_total: counts[i]!, spellings: others };
    })
    .sort((a, b) => b.gps_total - a.gps_total);
}
