/** Reads the principals of GPs that satisfy the filters, in order of name. */
import { gpFilters, type Operation } from "./operation.ts";

export const fetchPrincipals = {
  name: "fetch-principals",
  path: "/fetch-principals",
  kind: "principal",
  summary: "Principals of General Partners, by name.",
  description:
    "The filters describe GPs: a principal is returned if one of their GPs satisfies all of them. Each principal appears once, with all their GPs.",
  filters: gpFilters,
  sorts: null,
  embeds: true,
  example: { limit: "5" },
} satisfies Operation;
