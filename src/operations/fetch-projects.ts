/** Reads the projects of GPs with a name, or all of them, by name. */
import { Project } from "#records/project.ts";
import { type Operation, optional } from "./operation.ts";

export const fetchProjects: Operation = {
  name: "fetch-projects",
  path: "/fetch-projects",
  kind: "project",
  record: Project,
  summary: "Projects, by name.",
  description:
    "All projects, or those of the GPs that `gp_name` matches. The id of a GP as `gp_name` gives only the projects of that GP.",
  filters: { gp_name: optional },
  example: { limit: "5" },
};
