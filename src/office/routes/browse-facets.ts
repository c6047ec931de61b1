/** Puts the values that can be chosen in order, each with its count. */
import { fold } from "#records/fold.ts";
import { propertyTypes, strategies } from "#records/vocabulary.ts";
import type { FacetView } from "#pages/account/browse-facets.ts";
import type { Chosen } from "#pages/account/browse-links.ts";
import type { Browse } from "#search/browse.ts";
import type { FoundSignals } from "#search/browse-signals.ts";
import type { FacetName } from "#search/dataset-parts.ts";

type Values = FacetView["values"];

/** Tags in three: how a GP invests, in what, and all else it carries. They remain one parameter of the operations. */
export function gpFacets(browse: Browse, chosen: Chosen): FacetView[] {
  const tags = countedGps(browse, "tag", chosen);
  const isOneOf = (list: readonly string[]) => (value: string) => list.includes(value);
  const [isStrategy, isPropertyType] = [isOneOf(strategies), isOneOf(propertyTypes)];
  const tagsThat = (isWanted: (value: string) => boolean) =>
    tags.filter(({ value }) => isWanted(value));
  return [
    { name: "market", label: "Market", values: countedGps(browse, "market", chosen) },
    { name: "tag", label: "Strategy", values: tagsThat(isStrategy) },
    { name: "tag", label: "Property type", values: tagsThat(isPropertyType) },
    { name: "theme", label: "Theme", values: countedGps(browse, "theme", chosen) },
    {
      name: "tag",
      label: "Tag",
      values: tagsThat((value) => !isStrategy(value) && !isPropertyType(value)),
    },
  ];
}

function countedGps({ gps, values }: Browse, facet: FacetName, chosen: Chosen): Values {
  const all = withChosen(values[facet], chosen[facet]);
  const counts = gps.count(facet, all, chosen);
  return worthwhile(
    all.map((value, i) => ({ value, count: counts[i]! })),
    chosen[facet],
  );
}

/** Type and market of signals; of the markets each by what it is called. */
export const signalFacets = (
  { nameOfMarket }: Browse,
  { ofType, ofMarket }: FoundSignals,
  chosen: Chosen,
): FacetView[] => {
  const markets = Array.from(ofMarket, ([title, count]) => [nameOfMarket(title), count] as const);
  return [
    { name: "type", label: "Type", values: counted(ofType, chosen.type) },
    { name: "market", label: "Market", values: counted(markets, chosen.market) },
  ];
};

function counted(counts: Iterable<readonly [string, number]>, chosen: readonly string[]): Values {
  const countOf = new Map(counts);
  const all = withChosen([...countOf.keys()], chosen);
  return worthwhile(
    all.map((value) => ({ value, count: countOf.get(value) ?? 0 })),
    chosen,
  );
}

/** What was chosen in another spelling can be taken away too. */
const withChosen = (values: readonly string[], chosen: readonly string[]): string[] => [
  ...values,
  ...chosen.filter((value) => !values.includes(value)),
];

/** Without those that would give nothing. */
const worthwhile = (values: Values, chosen: readonly string[]): Values =>
  mostFirst(values.filter(({ value, count }) => count > 0 || chosen.includes(value)));

/** Equals by name. */
export const mostFirst = (values: Values): Values =>
  values.toSorted((a, b) => b.count - a.count || (fold(a.value) < fold(b.value) ? -1 : 1));
