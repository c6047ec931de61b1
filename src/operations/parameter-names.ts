/** Which parameters there are, and how long or large each may be. */
import type { FilterName, Operation } from "./operation.ts";

/** Bounds of the contract; the largest page is the operator's choice. */
export const parameterBounds = {
  gpNameLengthMax: 200,
  valueLengthMax: 100,
  valuesMax: 10,
  limitDefault: 20,
  offsetMax: 2_147_483_647,
} as const;

const pageParameters = ["limit", "offset"] as const;
export type PageParameter = (typeof pageParameters)[number];
export type ParameterName = FilterName | PageParameter;

const namesOf = new WeakMap<Operation, readonly ParameterName[]>();

/** Names an operation takes, in the order they are documented; the same array on every call. */
export function parametersOf(operation: Operation): readonly ParameterName[] {
  let names = namesOf.get(operation);
  if (names === undefined) {
    names = [...operation.filters, ...pageParameters];
    namesOf.set(operation, names);
  }
  return names;
}
