/** Which parameters there are, what each filter means, and how long or large each may be. */
import type { FacetName } from "#search/dataset-parts.ts";

export type FilterName = "gp_name" | FacetName;

interface Filter {
  /** For the reference; backticks mark code. */
  meaning: string;
  lengthMax: number;
  /** May it be given several times, any of them being enough? */
  isRepeatable: boolean;
}

const facet = (meaning: string): Filter => ({
  meaning: `${meaning} Repeated: any of them.`,
  lengthMax: 100,
  isRepeatable: true,
});

/**
 * The one list of filters, in the order of the reference and of a canonical query: parsing, hints, forms and OpenAPI
 * follow it. Every facet of the read model has its filter here.
 */
export const filters: Readonly<Record<FilterName, Filter>> = {
  gp_name: {
    meaning:
      "Part of a name of the GP: every word must stand in one of its names (name, legal name, alias). A word of fewer than 4 characters must begin a word. The id of a GP means that GP alone.",
    lengthMax: 200,
    isRepeatable: false,
  },
  tag: facet("A tag, strategy or property type of the GP, as a whole value."),
  theme: facet("A theme of the GP, as a whole value."),
  market: facet("A market of the GP: its title, one of its cities, or a city and a state."),
};

export const filterNames = Object.keys(filters) as readonly FilterName[];
export const repeatableFilters = filterNames.filter((name) => filters[name].isRepeatable);

export const pageParameters = ["limit", "offset"] as const;
export type PageParameter = (typeof pageParameters)[number];
export type ParameterName = FilterName | PageParameter;

export const isRepeatable = (name: ParameterName): boolean =>
  name !== "limit" && name !== "offset" && filters[name].isRepeatable;

/** Bounds of the contract; the largest page is the operator's choice. */
export const parameterBounds = {
  /** Times a repeatable filter may be given. */
  valuesMax: 10,
  limitDefault: 20,
  offsetMax: 2_147_483_647,
} as const;
