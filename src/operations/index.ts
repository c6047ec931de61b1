/** Operations of the API, in the order of the docs. */
import { fetches } from "./fetches.ts";
import { lists } from "./lists.ts";
import type { Operation } from "./operation.ts";

export const operations: readonly Operation[] = [
  ...Object.values(fetches),
  ...Object.values(lists),
];
