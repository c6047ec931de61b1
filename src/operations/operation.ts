/** Declares what operations are (what each reads and which parameters it takes), and the meaning of every filter. */
import { filterableGp } from "#records/gp.ts";
import type { RecordKind } from "#records/kinds.ts";
import type { Bounds, Filter } from "#search/read-model.ts";

interface DeclaredFilter {
  /** Text for the reference; backticks mark code. */
  meaning: string;
  lengthMax: number;
  /** True if the filter may be given several times. One of its values is then enough. */
  isRepeatable: boolean;
}

const wholeValue = ({ meaning }: { meaning: string }): DeclaredFilter => ({
  meaning: `${meaning} If repeated, any of them matches.`,
  lengthMax: 100,
  isRepeatable: true,
});

/**
 * The only list of filters. Parsing, reference, OpenAPI and tools for agents follow it. A filter's name is that of a
 * condition that the read model takes.
 */
const allFilters = {
  gp_name: {
    meaning:
      "Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP.",
    lengthMax: 200,
    isRepeatable: false,
  },
  tag: wholeValue(filterableGp.tag),
  theme: wholeValue(filterableGp.theme),
  market: wholeValue(filterableGp.market),
} satisfies Record<string, DeclaredFilter>;
export type FilterName = keyof typeof allFilters;

export const filters: Readonly<Record<FilterName, DeclaredFilter>> = allFilters;
const filterNames = Object.keys(filters) as readonly FilterName[];
export const repeatableFilters = filterNames.filter((name) => filters[name].isRepeatable);

const pageParameters = ["limit", "offset"] as const;
export type PageParameter = (typeof pageParameters)[number];
export type ParameterName = FilterName | PageParameter;

export const isRepeatable = (name: ParameterName): boolean =>
  name !== "limit" && name !== "offset" && filters[name].isRepeatable;

/** Limits that the contract sets. The operator sets the maximum of `limit`. */
export const parameterBounds = {
  /** Maximum number of values for a repeatable filter. */
  valuesMax: 10,
  limitDefault: 20,
  offsetMax: 2_147_483_647,
} as const;

/** Valid parameters of a request. */
export interface Query extends Bounds {
  filter: Filter;
}

/** An operation's rules for a filter that it takes. */
interface FilterRule {
  isRequired: boolean;
  lengthMin: number;
}

/** Declaration of an operation. Routes, reference, forms, OpenAPI and metrics follow it. */
export interface Operation {
  /** Name used everywhere: in the path, and as `operationId`, heading and file name. */
  name: `fetch-${string}`;
  path: `/fetch-${string}`;
  /** Kind of record that the operation returns. */
  kind: RecordKind;
  summary: string;
  /** Paragraphs for the reference. */
  description: string;
  /** Filters that the operation takes, in the order of the docs. */
  filters: Readonly<Partial<Record<FilterName, FilterRule>>>;
  /** Query that finds something in most datasets. Curl samples and forms start with it. */
  example: Readonly<Partial<Record<ParameterName, string>>>;
}

export const optional = { isRequired: false, lengthMin: 1 } satisfies FilterRule;

/** Filters on a GP, all optional. */
export const gpFilters = { gp_name: optional, tag: optional, theme: optional, market: optional };

const namesOf = new WeakMap<Pick<Operation, "filters">, readonly ParameterName[]>();

/** Returns an operation's parameters in the order of the docs, as the same array on every call. */
export function parametersOf(operation: Pick<Operation, "filters">): readonly ParameterName[] {
  let names = namesOf.get(operation);
  if (names === undefined) {
    names = [...filtersOf(operation), ...pageParameters];
    namesOf.set(operation, names);
  }
  return names;
}

export const filtersOf = ({ filters }: Pick<Operation, "filters">) =>
  Object.keys(filters) as FilterName[];

/** Returns the JSON Schema of a filter's values for an operation. */
export function filterSchema(name: FilterName, operation: Operation) {
  const { lengthMax, isRepeatable } = filters[name];
  const text = {
    type: "string",
    minLength: operation.filters[name]!.lengthMin,
    maxLength: lengthMax,
  } as const;
  return isRepeatable
    ? ({ type: "array", maxItems: parameterBounds.valuesMax, items: text } as const)
    : text;
}

/** Returns the JSON Schemas of `limit` and `offset`. @param pageSizeMax largest page that the operator allows. */
export const pageSchemas = (pageSizeMax: number) =>
  ({
    limit: {
      type: "integer",
      minimum: 1,
      maximum: pageSizeMax,
      default: parameterBounds.limitDefault,
    },
    offset: { type: "integer", minimum: 0, maximum: parameterBounds.offsetMax, default: 0 },
  }) as const satisfies Record<PageParameter, object>;
