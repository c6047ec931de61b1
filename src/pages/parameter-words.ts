/** What each parameter means and what it takes, in words. */
import {
  type FilterName,
  filterNames,
  filters,
  type Operation,
  parameterBounds,
  type ParameterName,
} from "#operations/operation.ts";

/** Backticks mark code. */
export const parameterMeanings: Readonly<Record<ParameterName, string>> = {
  ...(Object.fromEntries(filterNames.map((name) => [name, filters[name].meaning])) as Readonly<
    Record<FilterName, string>
  >),
  limit: "How many records a page has at most.",
  offset: "How many records to skip.",
};

/** The values the operation accepts for it: `2 to 200 characters`. */
export function parameterRule(
  name: ParameterName,
  operation: Operation,
  pageSizeMax: number,
): string {
  const { valuesMax, offsetMax } = parameterBounds;
  if (name === "limit") return `whole number, 1 to ${pageSizeMax}`;
  if (name === "offset") return `whole number, 0 to ${offsetMax}`;
  const { lengthMax, isRepeatable } = filters[name];
  const characters = `${operation.filters[name]!.lengthMin} to ${lengthMax} characters`;
  return isRepeatable ? `${characters}, up to ${valuesMax} times` : characters;
}

/** `required`, `optional` or its default. */
export function parameterNeed(name: ParameterName, operation: Operation): string {
  if (name === "limit") return `default ${parameterBounds.limitDefault}`;
  if (name === "offset") return "default 0";
  return operation.filters[name]!.isRequired ? "required" : "optional";
}
