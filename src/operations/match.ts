/** Matches lists of names in slices. Declares a list's maximum length, its cost and its columns in CSV. */
import type { Column } from "#csv.ts";
import { type Match, matchList, type WantedGp } from "#search/match-list.ts";
import { type ReadModel, runInTurns } from "#search/read-model.ts";

/** Maximum number of names in a list. */
export const namesMax = 5000;
/** Number of names that count as one request. */
const namesOfRequest = 100;

/** Returns how many requests a list of this many names counts as. */
export const matchCost = (names: number): number => Math.max(1, Math.ceil(names / namesOfRequest));

/**
 * Matches a list in slices, so that the thread goes on serving. Begins again if the dataset is replaced meanwhile.
 * @param current returns the model to answer from. An error that it throws ends the match.
 */
export async function matchInSlices(
  current: () => ReadModel,
  list: readonly WantedGp[],
): Promise<{ model: ReadModel; matches: Match[] }> {
  const model = current();
  const matches: Match[] = [];
  const steps = matchList(model, list).map((match) => {
    if (match !== null) matches.push(match);
  });
  const isDone = await runInTurns(steps, () => current() === model);
  return isDone ? { model, matches } : matchInSlices(current, list);
}

export interface MatchRow {
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
