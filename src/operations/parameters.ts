/** Query text → a query whose parameters are all valid, or its faults at once. */
import { listedMax, type ParameterFault } from "#problems.ts";
import type { FacetName } from "#search/dataset-parts.ts";
import type { Operation, Query } from "./operation.ts";
import {
  faultOfValue,
  invalidParameters,
  missing,
  repeated,
  tooMany,
  unknown,
  unreadable,
} from "./parameter-faults.ts";
import {
  parameterBounds,
  parametersOf,
  type PageParameter,
  type ParameterName,
} from "./parameter-names.ts";
import { readPairs } from "./query-text.ts";

/**
 * @param text what follows the first `?` of the request, undecoded.
 * @param all every operation, to tell where else a parameter is known.
 * @throws Problem invalid-parameters with the first faults in the order of the query, missing ones last, and their number.
 */
export function readQuery(
  operation: Operation,
  text: string,
  pageSizeMax: number,
  all: readonly Operation[],
): Query {
  const allowed = parametersOf(operation);
  const faults: ParameterFault[] = [];
  let faultCount = 0;
  /** Describes only a fault that is listed: to look for a suggestion costs more than to read the rest of a pair. */
  const add = (describe: () => ParameterFault) => {
    if (faultCount++ < listedMax) faults.push(describe());
  };
  const values = new Map<ParameterName, string[]>();
  const read = new Set<string>();
  for (const pair of readPairs(text)) {
    const name = allowed.find((one) => one === pair.name);
    const fault =
      unreadable(pair) ??
      (name === undefined
        ? undefined
        : (repeated(name, read) ?? faultOfValue(name, pair.value, operation, pageSizeMax)));
    if (fault !== undefined) add(() => fault);
    else if (name !== undefined) {
      const known = values.get(name) ?? [];
      known.push(pair.value);
      values.set(name, known);
      if (known.length === parameterBounds.valuesMax + 1) add(() => tooMany(name));
    } else if (!read.has(pair.name)) add(() => unknown(pair.name, operation, all));
    read.add(pair.name);
  }
  if (operation.gpName.isRequired && !read.has("gp_name")) add(() => missing(operation));
  if (faultCount > 0) throw invalidParameters(operation, faults, faultCount);
  return queryFrom(values);
}

function queryFrom(values: ReadonlyMap<ParameterName, readonly string[]>): Query {
  const listOf = (name: FacetName) =>
    [...new Set(values.get(name)?.map((value) => value.normalize()))].toSorted();
  const numberOf = (name: PageParameter, byDefault: number) =>
    Number(values.get(name)?.[0] ?? byDefault);
  return {
    filter: {
      name: values.get("gp_name")?.[0]?.trim().normalize(),
      tag: listOf("tag"),
      theme: listOf("theme"),
      market: listOf("market"),
    },
    limit: numberOf("limit", parameterBounds.limitDefault),
    offset: numberOf("offset", 0),
  };
}

/** The query as text: the same for every way to ask the same. */
export function canonicalQuery({ filter, limit, offset }: Query): string {
  const pairs = new URLSearchParams();
  if (filter.name !== undefined) pairs.append("gp_name", filter.name);
  for (const name of ["tag", "theme", "market"] as const)
    for (const value of filter[name] ?? []) pairs.append(name, value);
  pairs.append("limit", String(limit));
  pairs.append("offset", String(offset));
  return pairs.toString();
}
