/** Declares the members of every JSON page besides `data`, for types and reference alike: `pagination` and `meta`. */
import { type Static, Type } from "#records/schema.ts";

export const Pagination = Type.Object({
  limit: Type.Integer({ minimum: 0 }),
  offset: Type.Integer({ minimum: 0 }),
  returned: Type.Integer({ minimum: 0, description: "Records on this page." }),
  total: Type.Integer({ minimum: 0, description: "Records that satisfy the query; exact." }),
  has_more: Type.Unsafe<boolean>({ type: "boolean" }),
  next_offset: Type.Unsafe<number | null>({ type: ["integer", "null"], minimum: 1 }),
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
  code: Type.Unsafe<(typeof hintCodes)[number]>({ type: "string", enum: [...hintCodes] }),
  parameter: Type.Unsafe<string | null>({ type: ["string", "null"] }),
  message: Type.String(),
  suggestions: Type.Array(Type.String(), { maxItems: 3 }),
});
export type Hint = Static<typeof Hint>;

/** Facts about an answer: the version of the API, the dataset that it was made from, and hints. */
export const Meta = Type.Object({
  api_version: Type.String(),
  dataset_version: Type.String({
    description:
      "Pages of one version neither repeat nor miss a record; when it changes, begin again at offset 0.",
  }),
  dataset_updated_at: Type.String({ format: "date-time" }),
  hints: Type.Array(Hint),
});
export type Meta = Static<typeof Meta>;
