/** Makes a function from the cells of a row to the value of one field. */
import { clean, comparable } from "./cells.ts";
import { convert } from "./convert.ts";
import type { DateFormat } from "./dates.ts";
import type { Field } from "./fields.ts";
import type { SourceOfField, Written } from "./mapping.ts";
import { fillTemplate, parseTemplate } from "./template.ts";
import { quoted, Unreadable } from "./unreadable.ts";

/** The cells of a row that the mapping uses, in the order in which it asked for their columns. */
export type Cells = readonly string[];

export interface MappingContext {
  /** Where in `Cells` a column will stand. */
  slotOf: (column: string) => number;
  /** Comparable forms of cells that say nothing. */
  missing: ReadonlySet<string>;
  dates: readonly DateFormat[];
}

/** A list where the field is one; undefined where nothing is known. */
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
  // Within an address a cell must not add a slash or a question mark of its own.
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

/** What a text means: looked up in `values`, missing, cut up or converted, in this order. */
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
