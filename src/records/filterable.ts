/** Declares the conditions by which records can be queried. Each kind has a table of them beside its members. */

/** Condition that one of a record's texts equals a requested one, both folded. */
export interface Equality<R> {
  readonly by: "equality";
  /** Text for the reference; backticks mark code. */
  readonly meaning: string;
  readonly of: (record: R) => string | null | readonly string[];
  /** Closed list of the texts, if there is one. */
  readonly values?: readonly string[];
  /** True if the texts are market titles, which every spelling of a market finds. */
  readonly isMarket?: true;
}

/** Condition that a record's date is in a range. A year or a month is in the range if any of its days is. */
export interface Range<R> {
  readonly by: "range";
  readonly meaning: string;
  readonly of: (record: R) => string | null;
}

/**
 * A condition on a record. `ofOneGp` is a value that a GP of the record carries; all conditions of this form must hold
 * for the same GP. `someSignal` is a filter that a single signal of the GP must satisfy.
 */
type Condition<R> =
  | Equality<R>
  | Range<R>
  | { readonly by: "ofOneGp" }
  | { readonly by: "someSignal" };
export type Filterable<R> = Readonly<Record<string, Condition<R>>>;

export const equality = <R>(
  of: Equality<R>["of"],
  meaning: string,
  values?: readonly string[],
): Equality<R> => ({ by: "equality", of, meaning, ...(values && { values }) });

export const market = <R>(of: Equality<R>["of"], meaning: string): Equality<R> => ({
  ...equality(of, meaning),
  isMarket: true,
});

export const range = <R>(of: Range<R>["of"], meaning: string): Range<R> => ({
  by: "range",
  of,
  meaning,
});

export const ofOneGp = { by: "ofOneGp" } as const;
export const someSignal = { by: "someSignal" } as const;
