/** Declares how records of a kind can be asked for. Each kind has a table of names and conditions beside its members. */

/** Texts of a record, one of which must be equal to a requested one when both are folded. */
export interface Equality<R> {
  readonly by: "equality";
  /** Text for the reference; backticks mark code. */
  readonly meaning: string;
  readonly of: (record: R) => string | null | readonly string[];
  /** Closed list of the texts, if they have one. */
  readonly values?: readonly string[];
  /** Set if the texts are titles of markets, which every spelling of a market finds. */
  readonly isMarket?: true;
}

/** Date of a record. A date less precise than a day is in a range if some day of it would be. */
export interface Range<R> {
  readonly by: "range";
  readonly meaning: string;
  readonly of: (record: R) => string | null;
}

/**
 * A condition on a record. `ofOneGp` is a value that a GP of the record carries; all conditions of this form must hold for
 * the same GP. `someSignal` is a filter of signals, all of which one signal of the GP must satisfy.
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
