/** What an operation is: one read, with what it returns and which parameters it takes; and what each parameter means. */
import type { TSchema } from "typebox";
import type { RecordKind } from "#records/kinds.ts";
import type { FacetName } from "#search/dataset-parts.ts";
import type { GpFilter } from "#search/gp-search.ts";
import type { Bounds, ReadModel, Selection } from "#search/read-model.ts";

export type FilterName = "gp_name" | FacetName;

interface Filter {
  /** For the reference; backticks mark code. */
  meaning: string;
  lengthMax: number;
  /** May it be given several times, any of them being enough? */
  isRepeatable: boolean;
  /** What of the search it fills: a list where it is repeatable, else a text. */
  member: keyof GpFilter;
}

const facet = (member: FacetName, meaning: string): Filter => ({
  member,
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
    member: "name",
  },
  tag: facet("tag", "A tag, strategy or property type of the GP, as a whole value."),
  theme: facet("theme", "A theme of the GP, as a whole value."),
  market: facet(
    "market",
    "A market of the GP: its title, one of its cities, or a city and a state.",
  ),
};

export const filterNames = Object.keys(filters) as readonly FilterName[];
export const repeatableFilters = filterNames.filter((name) => filters[name].isRepeatable);

const pageParameters = ["limit", "offset"] as const;
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

/** A request whose parameters are all valid. */
export interface Query extends Bounds {
  filter: GpFilter;
}

/** What an operation asks of a filter it takes. */
interface FilterRule {
  isRequired: boolean;
  lengthMin: number;
}

/** Everything there is to know about an operation: routes, reference, forms, OpenAPI and metrics follow it. */
export interface Operation {
  /** Its name everywhere: path, `operationId`, heading, file. */
  name: `fetch-${string}`;
  path: `/fetch-${string}`;
  /** Kind of the records it returns. */
  kind: RecordKind;
  record: TSchema;
  summary: string;
  /** Paragraphs for the reference. */
  description: string;
  /** Filters it takes, in the order they are documented. */
  filters: Readonly<Partial<Record<FilterName, FilterRule>>>;
  /** A query that finds something in most datasets; curl lines and forms begin with it. */
  example: Readonly<Partial<Record<ParameterName, string>>>;
  select(model: ReadModel, query: Query): Selection;
}

export const optional: FilterRule = { isRequired: false, lengthMin: 1 };

/** Every filter, none of them required. */
export const everyFilter = Object.fromEntries(
  filterNames.map((name) => [name, optional]),
) as Readonly<Record<FilterName, FilterRule>>;

const namesOf = new WeakMap<Pick<Operation, "filters">, readonly ParameterName[]>();

/** Names an operation takes, in the order they are documented; the same array on every call. */
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

/** What a filter takes on an operation, as JSON Schema. */
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

/** The same of `limit` and `offset`. @param pageSizeMax the operator's largest page. */
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
