/** Compiles the source of a field into a function from the cells of a row to its value. */
import { fold } from "#records/fold.ts";
import { clean, cleanParagraphs, comparable, titleCase } from "./cells.ts";
import { type DateFormat, readDate } from "./dates.ts";
import type { Field } from "./mapping-fields.ts";
import type { SourceOfField, Written } from "./mapping.ts";
import { fillTemplate, parseTemplate } from "./template.ts";
import { quoted, Unreadable } from "./unreadable.ts";

/** The cells of a row that the mapping uses, in the order in which it requested their columns. */
export type Cells = readonly string[];

export interface MappingContext {
  /** The index of a column in `Cells`. */
  slotOf: (column: string) => number;
  /** Comparable forms of cells that count as missing. */
  missing: ReadonlySet<string>;
  dates: readonly DateFormat[];
}

/** A list where the field is a list; undefined where the value is missing. */
type ReadField = (cells: Cells) => unknown;

export function sourcesOf(written: Written | Written[]): SourceOfField[] {
  return [written].flat().map((one) => (typeof one === "string" ? { column: one } : one));
}

export function compileField(
  written: Written | Written[],
  field: Field,
  context: MappingContext,
): ReadField {
  const readers = sourcesOf(written).map((source) => compileSource(source, field, context));
  return (cells) => {
    const values = new Set<unknown>();
    for (const read of readers) {
      const found = read(cells);
      if (found instanceof Unreadable) return found;
      for (const value of found) values.add(value);
    }
    if (values.size === 0) return undefined;
    return field.list ? [...values] : [...values][0];
  };
}

type ReadValues = (cells: Cells) => readonly unknown[] | Unreadable;

function compileSource(source: SourceOfField, field: Field, context: MappingContext): ReadValues {
  if (source.constant !== undefined) {
    const constant = [source.constant].flat();
    return () => constant;
  }
  const texts = textsOf(source, field, context);
  const valuesOf = compileMeaning(source, field, context);
  return (cells) => {
    const values: unknown[] = [];
    for (const { label, read } of texts) {
      const text = read(cells);
      const found = valuesOf(text);
      if (found instanceof Unreadable)
        return new Unreadable(`${found.reason}; ${label} ${quoted(clean(text))}`);
      values.push(...found);
      if (!field.list && values.length > 0) break;
    }
    return values;
  };
}

interface SourceText {
  /** For messages, before the text: `column "Units" holds`. */
  label: string;
  /** Empty where there is none. */
  read: (cells: Cells) => string;
}

function textsOf(source: SourceOfField, field: Field, context: MappingContext): SourceText[] {
  if (source.template !== undefined) return [templateText(source.template, source, field, context)];
  const columns = source.columns ?? (source.column === undefined ? [] : [source.column]);
  return columns.map((column) => {
    const slot = context.slotOf(column);
    return { label: `column ${quoted(column)} holds`, read: (cells) => cells[slot] ?? "" };
  });
}

function templateText(
  written: string,
  source: SourceOfField,
  field: Field,
  context: MappingContext,
): SourceText {
  const template = parseTemplate(written) ?? [];
  const slots = template.map((part) =>
    typeof part === "string" ? -1 : context.slotOf(part.column),
  );
  const missing = missingOf(source, context);
  // A cell must not add a slash or a question mark to an address.
  const escape = (at: number) => (field.kind === "link" && at > 0 ? encodeURIComponent : String);
  return {
    label: "the template gives",
    read: (cells) =>
      fillTemplate(template, (_, at) => {
        const cell = clean(cells[slots[at] ?? -1] ?? "");
        return missing.has(comparable(cell)) ? undefined : escape(at)(cell);
      }),
  };
}

function missingOf(source: SourceOfField, context: MappingContext): ReadonlySet<string> {
  return new Set(["", ...context.missing, ...(source.missing ?? []).map(comparable)]);
}

/** The values of a text: looked up in `values`, missing, split or converted, in this order. */
function compileMeaning(source: SourceOfField, field: Field, context: MappingContext) {
  const listed = new Map(
    Object.entries(source.values ?? {}).map(([word, value]) => [comparable(word), value]),
  );
  const missing = missingOf(source, context);
  const dates = source.dates ?? context.dates;
  const onlyListed = source.values !== undefined && source.otherwise !== "keep";

  const read = (text: string): readonly unknown[] | Unreadable => {
    const found = onlyListed
      ? new Unreadable("has no meaning in `values` of the mapping")
      : convert(text, field, source, dates);
    if (!(found instanceof Unreadable)) return [found];
    if (source.otherwise_value !== undefined) return [source.otherwise_value];
    return source.otherwise === "missing" ? [] : found;
  };
  const known = (text: string): readonly unknown[] | undefined => {
    const word = comparable(text);
    const value = listed.get(word);
    if (value !== undefined) return value === null ? [] : [value].flat();
    if (missing.has(word)) return [];
    return source.present === undefined ? undefined : [source.present];
  };
  return (text: string): readonly unknown[] | Unreadable => {
    const whole = known(text);
    if (whole !== undefined || source.separator === undefined) return whole ?? read(text);
    const values: unknown[] = [];
    for (const piece of text.split(source.separator)) {
      const found = known(piece) ?? read(piece);
      if (found instanceof Unreadable) return found;
      values.push(...found);
    }
    return values;
  };
}

/** @param text not empty; its white space is tidied here. */
function convert(
  text: string,
  field: Field,
  source: SourceOfField,
  dates: readonly DateFormat[],
): string | number | Unreadable {
  switch (field.kind) {
    case "paragraphs":
      return cleanParagraphs(text);
    case "date":
      return readDate(clean(text), dates);
    case "link":
      return readWebAddress(clean(text));
    case "decimal":
    case "whole":
    case "money":
      return readNumber(clean(text), field.kind, source.multiply_by);
    case "choice":
      return readChoice(clean(text), field.choices);
    case "text":
      return readText(clean(text), source);
  }
}

function readChoice(text: string, choices: readonly string[]): string | Unreadable {
  return choices.includes(text) ? text : new Unreadable(`must be one of ${choices.join(", ")}`);
}

function readText(text: string, source: SourceOfField): string | Unreadable {
  if (source.fold === true) return fold(text) || new Unreadable("must hold a letter or a digit");
  return source.case === "title" ? titleCase(text) : text;
}

const amount = /^-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/;

/** Any number, a whole one, or dollars, which are rounded to whole ones. */
export type NumberKind = "decimal" | "whole" | "money";

/**
 * Reads a number as spreadsheets and registers write it: `1234`, `1,234.50`, `$1,234`, `-5`, `(123)` for minus 123,
 * `4.0`. What is ambiguous is refused.
 * @param multiplyBy for columns in thousands or millions.
 */
export function readNumber(text: string, kind: NumberKind, multiplyBy = 1): number | Unreadable {
  const { digits, sign } = unwrap(text);
  if (!amount.test(digits)) return new Unreadable(numberWords(kind, digits));
  const value = sign * exactProduct(Number(digits.replaceAll(",", "")), multiplyBy);
  if (kind === "decimal") return value + 0;
  const whole = kind === "money" ? Math.sign(value) * Math.round(Math.abs(value)) : value;
  if (!Number.isInteger(whole)) return new Unreadable(numberWords(kind, digits));
  if (!Number.isSafeInteger(whole)) return new Unreadable("must be a number below 2^53");
  return whole + 0;
}

function unwrap(text: string): { digits: string; sign: 1 | -1 } {
  const inParentheses = /^\(([^()-]*)\)$/.exec(text.trim());
  const bare = (inParentheses?.[1] ?? text).trim().replace(/^(-?) ?(?:US)?\$ ?/, "$1");
  return { digits: bare, sign: inParentheses === null ? 1 : -1 };
}

/** 1.1 million is 1,100,000 and not a hair more, as binary fractions would have it. */
function exactProduct(value: number, multiplyBy: number): number {
  return multiplyBy === 1 ? value : Number((value * multiplyBy).toPrecision(15));
}

function numberWords(kind: NumberKind, digits: string): string {
  if (/^-?\d+(?:\.\d+)?e[+-]?\d+$/i.test(digits))
    return "must be a number with all its digits; a spreadsheet has shortened this one";
  return kind === "whole" ? "must be a whole number" : "must be a number such as 1,234.50";
}

const withScheme = /^(https?):\/\/([^/?#\s]+)([^\s]*)$/i;
const hostName =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}_-]*[\p{L}\p{N}])?\.)+[\p{L}][\p{L}\p{N}-]*[\p{L}\p{N}](?::\d+)?$/u;

/**
 * An http or https address with its scheme and host in lower case (RFC 3986, 6.2.2.1); the path, whose case may matter,
 * stays as it is. An address without a scheme, as people type it, is taken to be http.
 */
export function readWebAddress(text: string): string | Unreadable {
  const address = text.includes("://") ? text : `http://${text}`;
  const [, scheme, host, rest] = withScheme.exec(address) ?? [];
  if (scheme === undefined || host === undefined || !hostName.test(host) || !URL.canParse(address))
    return new Unreadable("must be a web address such as https://www.example.com");
  return `${scheme.toLowerCase()}://${host.toLowerCase()}${rest ?? ""}`;
}
