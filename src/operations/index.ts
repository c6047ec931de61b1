/** Operations of the API, in the order of the docs. */
import type { RecordKind } from "#records/kinds.ts";
import { fetchGp } from "./fetch-gp.ts";
import { fetchPrincipals } from "./fetch-principals.ts";
import { fetchProjects } from "./fetch-projects.ts";
import { fetchSignals } from "./fetch-signals.ts";
import { lists } from "./lists.ts";
import type { Operation } from "./operation.ts";

const reads = {
  gp: fetchGp,
  principal: fetchPrincipals,
  signal: fetchSignals,
  project: fetchProjects,
} satisfies { [K in RecordKind]: Operation & { kind: K } };
export type OperationName = (typeof reads | typeof lists)[RecordKind]["name"];

/** Operations that find records by GP. */
export const fetchOperations: readonly Operation[] = Object.values(reads);
/** Operations that list records by any of their values. */
export const listOperations: readonly Operation[] = Object.values(lists);
export const operations: readonly Operation[] = [...fetchOperations, ...listOperations];
