/** Reads GPs by name, best match first, each with up to 100 principals and 100 signals. */
import { gpFilters, type Operation } from "./operation.ts";

export const fetchGp = {
  name: "fetch-gp",
  path: "/fetch-gp",
  kind: "gp",
  summary: "General Partners by name, with their principals and signals.",
  description:
    "Every GP with a name that has all words of `gp_name`, best match first. Each has its principals by name and its signals newest first, at most 100 of each; `principals_total` and `signals_total` are the true numbers.",
  filters: { ...gpFilters, gp_name: { ...gpFilters.gp_name, isRequired: true, lengthMin: 2 } },
  sorts: null,
  embeds: true,
  example: { gp_name: "capital" },
} satisfies Operation;
