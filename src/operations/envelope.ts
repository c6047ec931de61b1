/** Declares `pagination` and `meta`, the members of every JSON page besides `data`, for types and the reference. */
import { oneOf, orNull } from "#records/fields.ts";
import { type Static, Type } from "#records/schema.ts";

const count = (description: string, minimum = 0) => Type.Integer({ description, minimum });

export const Pagination = Type.Object({
  limit: count("Maximum number of entries on a page."),
  offset: count("Number of entries before this page."),
  returned: count("Number of entries on this page."),
  total: count("Exact number of entries on all pages."),
  has_more: Type.Boolean({ description: "Whether entries follow this page." }),
  next_offset: orNull(count("Value of `offset` for the next page; `null` on the last one.", 1)),
});
export type Pagination = Static<typeof Pagination>;

/** Closed list of `meta.hints[].code`. */
export const hintCodes = [
  "no_match",
  "unknown_value",
  "no_searchable_character",
  "past_the_end",
  "embedded_list_cut",
] as const;

export const Hint = Type.Object({
  code: oneOf("Kind of hint, for programs to read.", hintCodes),
  parameter: orNull(Type.String({ description: "Parameter that the hint concerns, or `null`." })),
  message: Type.String({ description: "The hint in words, for people to read." }),
  suggestions: Type.Array(Type.String(), {
    maxItems: 3,
    description: "Similar values that exist.",
  }),
});
export type Hint = Static<typeof Hint>;

/** Facts about an answer: the version of the API, the dataset that it was made from, and hints. */
export const Meta = Type.Object({
  api_version: Type.String({ description: "Minor version of the API." }),
  dataset_version: Type.String({
    description:
      "Version of the dataset that the answer was made from. While it stays the same, pages neither repeat nor skip records; if it changes between two pages, start again at offset 0.",
  }),
  dataset_updated_at: Type.String({
    format: "date-time",
    description: "Time when the dataset was last updated.",
  }),
  hints: Type.Array(Hint, {
    description:
      "Hints about the query and its answer: values that match nothing, an offset beyond the end, embedded lists that are truncated.",
  }),
});
export type Meta = Static<typeof Meta>;
