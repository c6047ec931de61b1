/** Types of operations and of their parameters, and the filters on GPs. */
import { datePattern } from "#records/fields.ts";
import type { Range } from "#records/filterable.ts";
import { filterableGp } from "#records/gp.ts";
import type { RecordKind } from "#records/kinds.ts";
import type { Bounds, Filter, Order } from "#search/read-model.ts";

/** Limits that the contract sets. The operator sets the maximum of `limit`. */
export const parameterBounds = {
  /** Maximum number of values for a repeatable filter. */
  valuesMax: 10,
  idsMax: 100,
  /** Maximum length of a value, in code points, unless a filter has its own. */
  lengthMax: 100,
  limitDefault: 20,
  offsetMax: 2_147_483_647,
} as const;

/** Form of a parameter's values. A `value` is compared as a whole; surrounding spaces of a `text` are ignored. */
export type Form = "text" | "value" | "date" | "number" | "flag";

/** Declaration of a filter that an operation takes. */
export interface DeclaredFilter {
  /** Text for the reference; backticks mark code. */
  readonly meaning: string;
  /** The part of `meaning` that says what the values are, but not how to ask for them. */
  readonly about: string;
  readonly form: Form;
  /** Minimum and maximum length of a text or value, in code points. */
  readonly lengthMin: number;
  readonly lengthMax: number;
  /** Closed list of values, if there is one. */
  readonly values?: readonly string[] | undefined;
  readonly numbers?: Range<never>["numbers"];
  /** Maximum number of values. One match among several values is enough. */
  readonly valuesMax: number;
  readonly isRequired: boolean;
  /** Name of the read model's condition that the filter sets. */
  readonly condition: string;
  /** End of the condition's range that the filter sets; undefined for conditions of other kinds. */
  readonly end?: "from" | "to";
  /** True if the condition is on a signal of the GP. */
  readonly isOfSignal?: true;
}

/** Returns a filter. It takes one value, compared as a whole, unless `more` says otherwise. */
export const declared = (
  condition: string,
  meaning: string,
  more: Partial<DeclaredFilter> = {},
): DeclaredFilter => ({
  condition,
  meaning,
  about: meaning,
  form: "value",
  lengthMin: 1,
  lengthMax: parameterBounds.lengthMax,
  valuesMax: 1,
  isRequired: false,
  ...more,
});

/** Returns a filter that takes several values, one of which is enough. */
export const repeated = (condition: string, meaning: string, more: Partial<DeclaredFilter> = {}) =>
  declared(condition, `${meaning} Give several values to match any.`, {
    about: meaning,
    valuesMax: parameterBounds.valuesMax,
    ...more,
  });

const gpName = declared(
  "gp_name",
  "Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP.",
  { form: "text", lengthMax: 200 },
);

export const gpFilters = {
  gp_name: gpName,
  tag: repeated("tag", filterableGp.tag.meaning),
  theme: repeated("theme", filterableGp.theme.meaning),
  market: repeated("market", filterableGp.market.meaning),
};

/** Text about `sort` for the reference. */
export const sortMeaning =
  "Order of the records. A minus sign stands for the descending order; records with the same value are in the order of their ids.";

/** Filters by the names of their parameters, in the order of the docs. */
export type Filters = Readonly<Record<string, DeclaredFilter>>;

/** Valid parameters of a request. */
export interface Query extends Bounds {
  filter: Filter;
  /** Order of the records; undefined for the usual one. */
  order?: Order | undefined;
  /** Values of the filters and of `sort` as they are written into links and entity tags, by name. */
  values: Readonly<Record<string, readonly string[]>>;
}

/** Declaration of an operation. Routes, reference, forms, OpenAPI and metrics follow from it. */
export interface Operation {
  /** Name used everywhere: in the path, and as `operationId`, heading and file name. */
  name: `fetch-${string}` | `list-${string}`;
  path: `/${Operation["name"]}`;
  kind: RecordKind;
  summary: string;
  /** Paragraphs for the reference. */
  description: string;
  /** Filters that the operation takes, in the order of the docs. */
  filters: Filters;
  /** Values of `sort`, the default first; null if the operation has only one order. */
  sorts: readonly string[] | null;
  /** True if a GP comes with its principals and signals; otherwise it comes with only their totals. */
  embeds: boolean;
  /** Query that finds something in most datasets. Curl samples and forms start with it. */
  example: Readonly<Record<string, string>>;
}

export const referenceOf = ({ name }: Operation): string => `/docs/${name}`;

/** An operation, or another path whose query is read in the same way. */
export type TakesParameters = Pick<Operation, "filters" | "sorts">;

/** Parameters of a path that takes only `limit` and `offset`. */
export const onlyPaging = { filters: {}, sorts: null } as const satisfies TakesParameters;

/** Returns an operation's parameters in the order of the docs. */
export const parametersOf = ({ filters, sorts }: TakesParameters): readonly string[] => [
  ...Object.keys(filters),
  ...(sorts === null ? [] : ["sort"]),
  ...pageParameters,
];

const pageParameters = ["limit", "offset"] as const;
export type PageParameter = (typeof pageParameters)[number];

export const isRepeatable = (operation: TakesParameters, name: string): boolean =>
  (operation.filters[name]?.valuesMax ?? 1) > 1;

export function filterSchema(filter: DeclaredFilter) {
  const { form, values, numbers, lengthMin, lengthMax, valuesMax } = filter;
  if (numbers) {
    const { minimum, maximum, isWhole } = numbers;
    return { type: isWhole ? "integer" : "number", minimum, maximum } as const;
  }
  if (form === "flag") return { type: "boolean" } as const;
  if (form === "date") return { type: "string", pattern: askedDatePattern } as const;
  const text =
    values === undefined
      ? ({ type: "string", minLength: lengthMin, maxLength: lengthMax } as const)
      : ({ type: "string", enum: values } as const);
  return valuesMax > 1 ? ({ type: "array", maxItems: valuesMax, items: text } as const) : text;
}

/** Pattern of a date in a query: a year, a month, a day, or a number of days before the day of the dataset. */
export const askedDatePattern = `${datePattern}|^-[0-9]{1,5}d$`;

/** Returns the JSON Schemas of `limit` and `offset`. @param pageSizeMax maximum of `limit`. */
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
