/** What an operation is: one read, told apart by what it returns and which filters it takes. */
import type { TSchema } from "typebox";
import type { RecordKind } from "#records/canonical.ts";
import type { GpFilter } from "#search/gp-search.ts";
import type { Bounds, ReadModel, Selection } from "#search/read-model.ts";
import {
  filterNames,
  type FilterName,
  pageParameters,
  type ParameterName,
} from "./parameter-names.ts";

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

const namesOf = new WeakMap<Operation, readonly ParameterName[]>();

/** Names an operation takes, in the order they are documented; the same array on every call. */
export function parametersOf(operation: Operation): readonly ParameterName[] {
  let names = namesOf.get(operation);
  if (names === undefined) {
    names = [...filtersOf(operation), ...pageParameters];
    namesOf.set(operation, names);
  }
  return names;
}

export const filtersOf = ({ filters }: Operation) => Object.keys(filters) as FilterName[];
