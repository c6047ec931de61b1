/** Operations that fetch records by GP, one for each kind. `list` describes the operation that lists the kind. */
import type { RecordKind } from "#records/kinds.ts";
import { gpFilters, type Operation } from "./operation.ts";

const { gp_name } = gpFilters;
const common = { sorts: null, embeds: true, example: { limit: "5" } } as const;

export const fetches = {
  gp: {
    name: "fetch-gp",
    path: "/fetch-gp",
    kind: "gp",
    summary: "General Partners by name, with their principals and signals.",
    description:
      "Every GP with a name that has all words of `gp_name`, best match first. Each comes with its principals by name and its signals newest first, at most 100 of each; `principals_total` and `signals_total` count all of them.",
    filters: { ...gpFilters, gp_name: { ...gp_name, isRequired: true, lengthMin: 2 } },
    ...common,
    example: { gp_name: "capital" },
    list: {
      description:
        "Without `sort`, GPs are in order of name, or best match first if `gp_name` is given. Each comes without its principals and signals, but with their numbers, `principals_total` and `signals_total`. `signal_type`, `signal_date_from` and `signal_date_to` must hold for the same signal of the GP.",
      example: { market: "dallas", property_type: "multifamily" },
    },
  },
  principal: {
    name: "fetch-principals",
    path: "/fetch-principals",
    kind: "principal",
    summary: "Principals of General Partners, by name.",
    description:
      "The filters describe GPs: a principal is returned if at least one of their GPs satisfies all filters. Each principal appears once, with all of their GPs.",
    filters: gpFilters,
    ...common,
    list: {
      description:
        "Without `sort`, principals are in order of name. `gp_name`, `market`, `tag` and `theme` describe GPs: one GP of the principal must satisfy all of them.",
      example: { role: "executive_officer" },
    },
  },
  signal: {
    name: "fetch-signals",
    path: "/fetch-signals",
    kind: "signal",
    summary: "Market signals, newest first.",
    description:
      "All signals, or those of the GPs that `gp_name` matches. The id of a GP as `gp_name` gives only the signals of that GP.",
    filters: { gp_name },
    ...common,
    list: {
      description:
        "Without `sort`, the newest signals come first. `market`, `tag`, `theme` and `property_type` are the signal's own, not its GP's.",
      example: { date_from: "-90d" },
    },
  },
  project: {
    name: "fetch-projects",
    path: "/fetch-projects",
    kind: "project",
    summary: "Projects, by name.",
    description:
      "All projects, or those of the GPs that `gp_name` matches. The id of a GP as `gp_name` gives only the projects of that GP.",
    filters: { gp_name },
    ...common,
    list: {
      description:
        "Without `sort`, projects are in order of name. `market`, `tag`, `theme` and `property_type` are the project's own, not its GP's.",
      example: { status: "under_construction", units_min: "100" },
    },
  },
} satisfies {
  [K in RecordKind]: Operation & { kind: K; list: Pick<Operation, "description" | "example"> };
};
