/** Operations of the API, in the order of the docs. */
import type { RecordKind } from "#records/kinds.ts";
import { fetches } from "./fetches.ts";
import { lists } from "./lists.ts";
import type { Operation } from "./operation.ts";

export type OperationName = (typeof fetches | typeof lists)[RecordKind]["name"];

/** Operations that find records by GP. */
export const fetchOperations: readonly Operation[] = Object.values(fetches);
/** Operations that list records by any of their values. */
export const listOperations: readonly Operation[] = Object.values(lists);
export const operations: readonly Operation[] = [...fetchOperations, ...listOperations];
