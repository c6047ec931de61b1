/** Operations of the API, in the order of the docs. */
import type { RecordKind } from "#records/kinds.ts";
import { fetches } from "./fetches.ts";
import { lists } from "./lists.ts";
import type { Operation } from "./operation.ts";

export type OperationName = (typeof fetches | typeof lists)[RecordKind]["name"];

export const operations: readonly Operation[] = [
  ...Object.values(fetches),
  ...Object.values(lists),
];
