/** Operations of the API, in the order of the docs. */
import type { RecordKind } from "#records/kinds.ts";
import { fetchGp } from "./fetch-gp.ts";
import { fetchPrincipals } from "./fetch-principals.ts";
import { fetchProjects } from "./fetch-projects.ts";
import { fetchSignals } from "./fetch-signals.ts";
import type { Operation } from "./operation.ts";

const reads = {
  gp: fetchGp,
  principal: fetchPrincipals,
  signal: fetchSignals,
  project: fetchProjects,
} satisfies { [K in RecordKind]: Operation & { kind: K } };
export type OperationName = (typeof reads)[RecordKind]["name"];

export const operations: readonly Operation[] = Object.values(reads);
