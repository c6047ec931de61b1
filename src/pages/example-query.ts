/** The example request of each operation, in curl lines and forms. */
import type { Operation } from "#operations/operation.ts";

/** Path and query. */
export const exampleTarget = ({ path, example }: Operation): string =>
  `${path}?${new URLSearchParams(example).toString()}`;
