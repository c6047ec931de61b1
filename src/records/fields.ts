/** Declares the kinds of member that records are made of: JSON Schemas with static types. */
import { kinds, type RecordKind } from "./kinds.ts";
import { Type, type Static, type TSchema } from "./schema.ts";

const yearPattern = "^[0-9]{4}";

/** Pattern of a date as precise as the source knows it: `2026`, `2026-03` or `2026-03-31`. */
export const datePattern = `${yearPattern}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?$`;

/** Length of a time to the second, without its zone. */
const secondLength = "2026-03-31T12:00:00".length;

/** Reports whether a date of `datePattern`, or a time in UTC, exists. `Date` turns 30 February into a day in March. */
export function existsInCalendar(text: string): boolean {
  const time = new Date(text);
  return (
    !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, secondLength))
  );
}

const timePattern = `${yearPattern}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?Z$`;

/** Limit up to which JSON readers with 64-bit floats read every integer exactly. */
const wholeMax = Number.MAX_SAFE_INTEGER;

/** Maximum length of most texts, in code points. `cut` counts UTF-16 code units instead, which are never fewer. */
const textLengthMax = 500;

/** Cuts a text to a maximum length, `…` included. Leaves no blank and no half of a surrogate pair before the `…`. */
export const cut = (written: string, lengthMax = textLengthMax): string =>
  written.length <= lengthMax
    ? written
    : `${written.slice(0, lengthMax - 1).replace(/\s*[\ud800-\udbff]?$/, "")}…`;

export const text = (description: string, lengthMax = textLengthMax) =>
  Type.String({ description, minLength: 1, maxLength: lengthMax });

export const id = (kind: RecordKind, description: string) =>
  Type.String({ description, pattern: `^${kinds[kind].prefix}_[0-9a-z]{16}$` });

export const date = (description: string) => Type.String({ description, pattern: datePattern });

export const time = (description: string) =>
  Type.String({ description, pattern: timePattern, format: "date-time" });

/** Declares a time, or a date as precise as known. */
export const dateOrTime = (description: string) =>
  Type.String({ description, pattern: `${datePattern}|${timePattern}` });

/** Reports whether a schema is that of a date or a time. */
export const isDate = ({ pattern }: { pattern?: string }): boolean =>
  pattern !== undefined && pattern.startsWith(yearPattern);

export const whole = (description: string, minimum = 0, maximum = wholeMax) =>
  Type.Integer({ description, minimum, maximum });

export const decimal = (description: string, minimum: number, maximum: number) =>
  Type.Number({ description, minimum, maximum });

export const link = (description: string) =>
  Type.String({ description, pattern: "^https?://", maxLength: 2000 });

export const oneOf = <const V extends readonly string[]>(description: string, values: V) =>
  Type.Unsafe<V[number]>({ type: "string", description, enum: [...values] });

export const list = <S extends TSchema>(description: string, items: S) =>
  Type.Array(items, { description });

/** Declares a scalar that is `null` if unknown, and never left out. */
export function orNull<S extends TSchema>(schema: S) {
  const { type, enum: values, ...rest } = schema as unknown as { type: string; enum?: string[] };
  return Type.Unsafe<Static<S> | null>({
    ...rest,
    type: [type, "null"],
    ...(values && { enum: [...values, null] }),
  });
}

/** Value in an open vocabulary (tags, themes, markets). It has at most 100 characters, like a value in a query. */
export const label = Type.String({ minLength: 1, maxLength: 100 });
