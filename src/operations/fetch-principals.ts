/** Reads the principals of GPs that satisfy the filters, by name. */
import { Principal } from "#records/principal.ts";
import { everyFilter, type Operation } from "./operation.ts";

export const fetchPrincipals: Operation = {
  name: "fetch-principals",
  path: "/fetch-principals",
  kind: "principal",
  record: Principal,
  summary: "Principals of General Partners, by name.",
  description:
    "The filters describe the GP: a principal is returned if one of its GPs satisfies all of them. Each principal appears once, with all its GPs.",
  filters: everyFilter,
  example: { limit: "5" },
  select: (model, { filter, ...bounds }) => model.selectLinked("principal", filter, bounds),
};
