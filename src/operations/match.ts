/** Matching of lists: its limit, and a match as a row of a table. */
import type { Column } from "#csv.ts";
import type { Match, WantedGp } from "#search/match-list.ts";

/** Maximum number of names in a list. */
export const namesMax = 5000;
/** A name and its match. */
interface MatchRow {
  wanted: WantedGp;
  match: Match;
}

/** Columns of a matched list in CSV. */
export const matchColumns: readonly Column<MatchRow>[] = [
  ...(["name", "city", "state", "crd", "cik"] as const).map((name) => ({
    name,
    of: ({ wanted }: MatchRow) => wanted[name] ?? null,
  })),
  { name: "certainty", of: ({ match }) => match.certainty },
  { name: "gp_id", of: ({ match }) => match.gp?.id ?? null },
  { name: "gp_name", of: ({ match }) => match.gp?.name ?? null },
  { name: "gp_city", of: ({ match }) => match.gp?.hq_city ?? null },
  { name: "gp_state", of: ({ match }) => match.gp?.hq_state ?? null },
  { name: "runner_up_id", of: ({ match }) => match.runnerUp?.id ?? null },
  { name: "runner_up_name", of: ({ match }) => match.runnerUp?.name ?? null },
];
