/** What each hint of an answer means. */
import type { Hint } from "#operations/hints.ts";

/** Backticks mark code. */
export const hintMeanings: Readonly<Record<Hint["code"], string>> = {
  no_match:
    "No GP has a name that satisfies `gp_name`. `suggestions` has up to 3 names that are near.",
  unknown_value:
    "No GP carries this tag, theme or market. `suggestions` has up to 3 values that are near.",
  no_searchable_character: "The value holds no letter and no digit, so it cannot match anything.",
  past_the_end: "`offset` is beyond the last record. `pagination.total` says how many there are.",
  embedded_list_cut:
    "A GP has more principals or signals than its record embeds. `principals_total` and `signals_total` are the true numbers; ask `/fetch-principals` or `/fetch-signals` with the id of the GP as `gp_name` for all of them.",
};
