/** Declares the conditions by which records can be queried. Each kind has a table of them beside its members. */
import { isDate } from "./fields.ts";
import type { MemberSchema, TSchema } from "./schema.ts";

/** Condition that one of a record's texts equals a requested one. */
export interface Equality<R> {
  readonly by: "equality";
  /** Text for the reference; backticks mark code. */
  readonly meaning: string;
  readonly of: (record: R) => string | null | undefined | readonly string[];
  /** Comparison: `text` folds, `market` takes any spelling, `digits` reads digits without leading zeros, `id` is exact. */
  readonly as: "text" | "market" | "digits" | "id";
  /** Closed list of the texts, if there is one. */
  readonly values?: readonly string[];
  /** Maximum length of the texts, in code points, if it is declared. */
  readonly lengthMax?: number | undefined;
}

/** Condition that a record's date or number is in a range. A year or a month is in it if any of its days is. */
export interface Range<R> {
  readonly by: "range";
  readonly meaning: string;
  /** Bounds of the numbers; null for dates. */
  readonly numbers: Readonly<{ minimum: number; maximum: number; isWhole: boolean }> | null;
  readonly of: (record: R) => string | number | null;
  /** True if lists can be sorted by it. */
  readonly isSortable: boolean;
}

/**
 * A condition on a record. `name` tests the words of the record's name, `id` its id, `gpId` the ids of its GPs, and
 * `hasGp` whether it has any. `ofOneGp` asks for a value that a GP of the record carries; all conditions of this form
 * must hold for the same GP. `someSignal` is a filter that a single signal of the GP must satisfy.
 */
export type Condition<R> =
  | Equality<R>
  | Range<R>
  | { readonly by: "name" | "id" | "gpId" | "hasGp" | "ofOneGp" | "someSignal" };
export type Filterable<R> = Readonly<Record<string, Condition<R>>>;

export const equality = <R>(
  of: Equality<R>["of"],
  meaning: string,
  more: Partial<Pick<Equality<R>, "as" | "values" | "lengthMax">> = {},
): Equality<R> => ({ by: "equality", of, meaning, as: "text", ...more });

export const range = <R>(
  of: Range<R>["of"],
  meaning: string,
  more: Partial<Pick<Range<R>, "numbers" | "isSortable">> = {},
): Range<R> => ({ by: "range", of, meaning, numbers: null, isSortable: true, ...more });

/**
 * Returns conditions on members, under their names: a range for dates and for bounded numbers, else equality.
 * @param ownerOf returns the object with the members; the record itself if left out.
 */
export const onMembers = <
  const Names extends readonly string[],
  R = Readonly<Record<Names[number], unknown>>,
>(
  members: Readonly<Record<Names[number], TSchema>>,
  names: Names,
  ownerOf: (record: R) => unknown = (record) => record,
) =>
  Object.fromEntries(
    names.map((name: Names[number]) => [name, onMember(name, members[name], ownerOf)]),
  ) as Readonly<Record<Names[number], Condition<R>>>;

function onMember<R>(name: string, schema: TSchema, ownerOf: (record: R) => unknown): Condition<R> {
  const { description = "", enum: values, type, minimum, maximum } = schema as MemberSchema;
  const of = <T>(record: R) => (ownerOf(record) as Record<string, T>)[name]!;
  if (isDate(schema)) return range(of<string | null>, description);
  if (minimum !== undefined && maximum !== undefined) {
    const isWhole = type?.includes("integer") === true;
    return range(of<number | null>, description, { numbers: { minimum, maximum, isWhole } });
  }
  const listed = values?.filter((value) => value !== null);
  const { maxLength: lengthMax } = schema as MemberSchema;
  return equality(of<string | null>, description, { lengthMax, ...(listed && { values: listed }) });
}
