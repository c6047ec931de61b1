/** Reads market signals, newest first: all, or those of the GPs that match a name. */
import { gpFilters, type Operation } from "./operation.ts";

export const fetchSignals = {
  name: "fetch-signals",
  path: "/fetch-signals",
  kind: "signal",
  summary: "Market signals, newest first.",
  description:
    "All signals, or those of the GPs that `gp_name` matches. The id of a GP as `gp_name` gives only the signals of that GP.",
  filters: { gp_name: gpFilters.gp_name },
  sorts: null,
  embeds: true,
  example: { limit: "5" },
} satisfies Operation;
