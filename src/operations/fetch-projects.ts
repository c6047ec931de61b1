/** Reads projects in order of name: all, or those of the GPs that match a name. */
import { gpFilters, type Operation } from "./operation.ts";

export const fetchProjects = {
  name: "fetch-projects",
  path: "/fetch-projects",
  kind: "project",
  summary: "Projects, by name.",
  description:
    "All projects, or those of the GPs that `gp_name` matches. The id of a GP as `gp_name` gives only the projects of that GP.",
  filters: { gp_name: gpFilters.gp_name },
  sorts: null,
  embeds: true,
  example: { limit: "5" },
} satisfies Operation;
