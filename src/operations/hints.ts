/** Hints in an answer: values that match nothing, an offset beyond the end, and truncated lists. */
import { echo } from "#problems.ts";
import type { Miss } from "#search/facet-index.ts";
import type { ReadModel, Selection } from "#search/read-model.ts";
import type { Hint } from "./envelope.ts";
import type { Query } from "./operation.ts";

/** Returns the hints for a selection. @param isCut true if a GP on the page has more records than it embeds. */
export function hintsFor(
  known: Pick<ReadModel, "suggestionsFor">,
  query: Pick<Query, "offset">,
  selection: Selection,
  isCut: boolean,
): Hint[] {
  const hints = selection.misses.map((miss) => hintOfMiss(known, miss));
  hints.push(...pastTheEnd(query.offset, selection.total));
  if (isCut) hints.push(embeddedListCut);
  return hints;
}

/** Returns the hint about an offset beyond the last of `total` entries. */
export function pastTheEnd(offset: number, total: number): Hint[] {
  if (total === 0 || offset < total) return [];
  const message = `The total is ${total}, so there is nothing at offset ${offset}. Give an offset below ${total}.`;
  return [{ code: "past_the_end", parameter: "offset", message, suggestions: [] }];
}

/** Hint about a GP on the page with more records than it embeds. */
export const embeddedListCut: Hint = {
  code: "embedded_list_cut",
  parameter: null,
  message:
    "At least one of these GPs has more principals or signals than are embedded. To get all of them, fetch principals and fetch signals with the id of the GP as gp_name.",
  suggestions: [],
};

function hintOfMiss(known: Pick<ReadModel, "suggestionsFor">, miss: Miss): Hint {
  const value = echo(miss.value);
  if (miss.folded === "")
    return {
      code: "no_searchable_character",
      parameter: miss.parameter,
      message: `'${value}' has no letter or digit to search for. Give a value that has one.`,
      suggestions: [],
    };
  const isName = miss.parameter === "gp_name";
  return {
    code: isName ? "no_match" : "unknown_value",
    parameter: miss.parameter,
    message: isName
      ? `No GP has a name that matches '${value}'.`
      : `No ${miss.kind === "gp" ? "GP" : miss.kind} has the ${miss.parameter} '${value}'.`,
    suggestions: known.suggestionsFor(miss),
  };
}
