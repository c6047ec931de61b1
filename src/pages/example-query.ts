/** A request for each operation that finds something in most datasets; curl lines and forms begin with it. */
import type { Operation } from "#operations/operation.ts";
import type { ParameterName } from "#operations/parameter-names.ts";

export function exampleValues({ gpName }: Operation): Partial<Record<ParameterName, string>> {
  return gpName.isRequired ? { gp_name: "capital" } : { limit: "5" };
}

/** Path and query. */
export const exampleTarget = (operation: Operation): string =>
  `${operation.path}?${new URLSearchParams(exampleValues(operation)).toString()}`;
