/** The request for each operation that curl lines and forms begin with. */
import type { Operation } from "#operations/operation.ts";

/** Path and query. */
export const exampleTarget = ({ path, example }: Operation): string =>
  `${path}?${new URLSearchParams(example).toString()}`;
