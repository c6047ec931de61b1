/** The product: its reads, in the order of the docs. */
import { fetchGp } from "./fetch-gp.ts";
import { fetchPrincipals } from "./fetch-principals.ts";
import { fetchProjects } from "./fetch-projects.ts";
import { fetchSignals } from "./fetch-signals.ts";
import type { Operation } from "./operation.ts";

export const operations: readonly Operation[] = [
  fetchGp,
  fetchPrincipals,
  fetchSignals,
  fetchProjects,
];
