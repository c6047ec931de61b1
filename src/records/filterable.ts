/** Declares the conditions by which records can be queried. Each kind has a table of them beside its members. */
import { isDate } from "./fields.ts";
import type { MemberSchema, TSchema } from "./schema.ts";

/**
 * How texts are compared: folded; by every spelling of a market; by their digits without leading zeros; or as they are.
 */
type Comparison = "text" | "market" | "digits" | "id";

/** Condition that one of a record's texts equals a requested one. */
export interface Equality<R> {
  readonly by: "equality";
  /** Text for the reference; backticks mark code. */
  readonly meaning: string;
  readonly of: (record: R) => string | null | undefined | readonly string[];
  readonly as: Comparison;
  /** Closed list of the texts, if there is one. */
  readonly values?: readonly string[];
}

interface NumberBounds {
  readonly minimum: number;
  readonly maximum: number;
  readonly isWhole: boolean;
}

/** Condition that a record's date or number is in a range. A year or a month is in it if any of its days is. */
export interface Range<R> {
  readonly by: "range";
  readonly meaning: string;
  /** Bounds of the numbers; null for dates. */
  readonly numbers: NumberBounds | null;
  readonly of: (record: R) => string | number | null;
  /** True if lists can be sorted by it. */
  readonly isSortable: boolean;
}

/**
 * A condition on a record. `name` is on the words of its own name, `id` on its own id, `gpId` on the id of a GP that it
 * belongs to, and `hasGp` on whether there is one. `ofOneGp` is a value that a GP of the record carries; all conditions
 * of this form must hold for the same GP. `someSignal` is a filter that a single signal of the GP must satisfy.
 */
export type Condition<R> =
  | Equality<R>
  | Range<R>
  | { readonly by: "name" | "id" | "gpId" | "hasGp" | "ofOneGp" | "someSignal" };
export type Filterable<R> = Readonly<Record<string, Condition<R>>>;

export const equality = <R>(
  of: Equality<R>["of"],
  meaning: string,
  values?: readonly string[],
): Equality<R> => ({ by: "equality", of, meaning, as: "text", ...(values && { values }) });

const equalityAs =
  (as: Comparison) =>
  <R>(of: Equality<R>["of"], meaning: string): Equality<R> => ({ by: "equality", of, meaning, as });

export const market = equalityAs("market");
export const digits = equalityAs("digits");
export const ids = equalityAs("id");

const rangeOf =
  <T extends string | number>() =>
  <R>(
    of: (record: R) => T | null,
    meaning: string,
    { numbers = null, isSortable = true }: Partial<Range<never>> = {},
  ): Range<R> => ({ by: "range", of, meaning, numbers, isSortable });

export const dates = rangeOf<string>();
export const numbers = rangeOf<number>();

type Conditions<K extends string> = Readonly<Record<K, Condition<Readonly<Record<K, unknown>>>>>;

/** Returns conditions on members, under their names: on equality, dates or numbers, as a member's schema says. */
export const onMembers = <const Names extends readonly string[]>(
  members: Readonly<Record<Names[number], TSchema>>,
  names: Names,
) =>
  Object.fromEntries(
    names.map((name: Names[number]) => [name, onMember(name, members[name])]),
  ) as Conditions<Names[number]>;

function onMember<K extends string>(name: K, schema: TSchema): Condition<Record<K, unknown>> {
  const { description = "", enum: values, type, minimum, maximum } = schema as MemberSchema;
  const of = <T>(record: Record<K, unknown>) => record[name] as T;
  if (isDate(schema)) return dates(of<string | null>, description);
  if (minimum !== undefined && maximum !== undefined) {
    const isWhole = type?.includes("integer") === true;
    return numbers(of<number | null>, description, { numbers: { minimum, maximum, isWhole } });
  }
  const listed = values?.filter((value) => value !== null);
  return equality(of<string | null>, description, listed);
}
