/** Compiles a mapping into a function that turns the cells of a row into records. */
import {
  type CanonicalGp,
  type CanonicalRecord,
  namedGpPrefix,
  type RecordFault,
  type SourceEntry,
} from "#records/canonical.ts";
import { fold } from "#records/fold.ts";
import { splitName } from "#records/legal-forms.ts";
import { mayBeInUs, stateCode, stateMembers, usStates } from "#records/us-states.ts";
import { clean, comparable, cleanParagraphs, titleCase, parseTemplate } from "./cells.ts";
import { isoFormats, type DateFormat, readDate } from "./dates.ts";
import { firmsIn, isCalledAfter, tradeNames } from "./firms.ts";
import { isFormula, quoted, Unreadable } from "./import-fault.ts";
import {
  chooseMark,
  type Field,
  fieldsOf,
  idField,
  namesField,
  writtenFields,
  type Condition,
  type Mapping,
  type NamedGps,
  type RecordBlock,
  type DecimalMark,
  type SourceOfField,
  type Written,
} from "./mapping.ts";
import { nearestFinder, nearestWords } from "./nearest.ts";
import { readNumber } from "./numbers.ts";

export type CompiledMapping = ReturnType<typeof compileMapping>;

/** Compiles a mapping. @param mapping mapping without faults, from `readMapping`. */
export function compileMapping(mapping: Mapping) {
  /** Columns that the file must have, in the order in which `read` expects their cells. */
  const columns: string[] = [];
  const context: MappingContext = {
    slotOf: (column) => {
      const slot = columns.indexOf(clean(column));
      return slot >= 0 ? slot : columns.push(clean(column)) - 1;
    },
    missing: new Set(["", ...(mapping.missing ?? []).map(comparable)]),
    dates: mapping.dates ?? isoFormats,
    ...(mapping.decimal && { decimal: mapping.decimal }),
  };
  const blocks = mapping.records.map((block) => compileBlock(block, context));
  const readNamedGps = mapping.named_gps && compileNamedGps(mapping.named_gps, context);

  const { known } = mapping.named_gps ?? {};
  /** Returns the content of a row, or only its faults if it has any. */
  const read = (cells: Cells): Omit<SourceEntry, "file" | "line"> => {
    const faults: RecordFault[] = [];
    const made = blocks.map((block) => block(cells, faults));
    const records = made.flatMap(({ record }) => record ?? []);
    // A row that adds no record adds no named GPs either.
    const found = records.length > 0 ? readNamedGps?.(cells, records, faults) : undefined;
    const namedGps = orFault(namesField.path, found, faults) ?? [];
    if (faults.length > 0) return { records: [], namedGps: [], deleted: [], faults };
    for (const record of records)
      if (record.record !== "gp" && namedGps.length > 0)
        record.gps = [...new Set([...(record.gps ?? []), ...namedGps.map(({ id }) => id)])];
    const deleted = made.flatMap(({ deleted }) => deleted ?? []);
    return { records, namedGps, ...(known !== undefined && { known }), deleted, faults };
  };
  return { columns, read };
}

/** Compiles a function that turns a row into a record, the name of a record to remove, or nothing. */
function compileBlock(block: RecordBlock, context: MappingContext) {
  const applies = compileCondition(block.when, context) ?? (() => true);
  const isDeleted = compileCondition(block.deleted, context) ?? (() => false);
  const readId = compileField(block.id, idField, context);
  const known = fieldsOf(block.record);
  const readers = writtenFields(block.fields).map(
    ([path, written]) => [path, compileField(written, known.get(path) as Field, context)] as const,
  );
  return (cells: Cells, faults: RecordFault[]) => {
    if (!applies(cells)) return {};
    const id = orFault(
      "id",
      readId(cells) ??
        new Unreadable(
          "is missing, because its cells in this row are blank or count as missing; fill them in",
        ),
      faults,
    );
    if (isDeleted(cells)) return { deleted: { record: block.record, id: id as string } };
    const record: Record<string, unknown> = { record: block.record, id };
    for (const [path, readField] of readers)
      setMember(record, path, orFault(path, readField(cells), faults));
    if (faults.length === 0) codeStates(record, faults);
    return { record: record as unknown as CanonicalRecord };
  };
}

const nearestState = nearestFinder(Object.values(usStates));

/** Replaces states with USPS codes if the country is the US or unknown. Adds a fault for an unknown state. */
function codeStates(record: Record<string, unknown>, faults: RecordFault[]): void {
  for (const [state, country] of stateMembers) {
    const text = record[state];
    if (typeof text !== "string" || !mayBeInUs(record[country])) continue;
    record[state] = orFault(state, stateCode(text) ?? unknownState(text, country), faults);
  }
}

function unknownState(text: string, country: string): Unreadable {
  const name = nearestState(text);
  const value =
    name === undefined
      ? `${chooseMark}the code of a state, or null without quotes for no value`
      : stateCode(name);
  return new Unreadable(
    `must be a US state, unless ${country} names another country; it is ${quoted(text)}${nearestWords(name)}`,
    { cell: text, value, isNew: true },
  );
}

/** Returns a value if it is valid. Otherwise adds a fault and returns undefined. */
function orFault<V>(field: string, value: V | Unreadable, faults: RecordFault[]): V | undefined {
  if (!(value instanceof Unreadable)) return value;
  const { reason, word } = value;
  faults.push({ field, reason, isOfCell: true, ...(word && { word }) });
  return undefined;
}

/** Sets a member, unless the value is undefined. @param path path of at most two steps, such as `external_ids.cik`. */
export function setMember(record: Record<string, unknown>, path: string, value: unknown): void {
  if (value === undefined) return;
  const [group = "", member] = path.split(".");
  if (member === undefined) record[group] = value;
  else record[group] = { ...(record[group] as object | undefined), [member]: value };
}

function compileCondition(
  written: string | Condition | undefined,
  context: MappingContext,
): ((cells: Cells) => boolean) | undefined {
  if (written === undefined) return undefined;
  const { column, is }: Condition = typeof written === "string" ? { column: written } : written;
  const slot = context.slotOf(column);
  const wanted = is && new Set(is.map(comparable));
  return (cells) => {
    const cell = comparable(cells[slot] ?? "");
    return wanted === undefined ? !context.missing.has(cell) : wanted.has(cell);
  };
}

const confidenceOfNames = 0.5;

/**
 * Compiles a function that returns the GPs named in a row. Names that differ only in case, accents or
 * punctuation share one GP. Firms from split cells may also differ in legal form, `the` or `and`.
 */
function compileNamedGps(named: NamedGps, context: MappingContext) {
  const isSplit = named.split === "firms";
  const inNames = isSplit ? { ...context, separate: firmsIn } : context;
  const readNames = compileField(named.names, namesField, inNames);
  const idFields = fieldsOf("gp");
  const readIds = Object.entries(named.external_ids ?? {}).map(([key, written]) => {
    const path = `external_ids.${key}`;
    return [path, compileField(written, idFields.get(path) as Field, context)] as const;
  });
  const aliases = aliasesOf(named);
  const made = new Map<string, CanonicalGp>();
  return (
    cells: Cells,
    records: readonly CanonicalRecord[],
    faults: RecordFault[],
  ): CanonicalGp[] | Unreadable => {
    const names = readNames(cells) ?? [];
    if (names instanceof Unreadable) return names;
    const projects = records.flatMap((one) => (one.record === "project" ? [one.name ?? ""] : []));
    const gps = new Map<string, CanonicalGp>();
    for (const written of names as string[]) {
      const [name = "", ...trades] = isSplit ? tradeNames(written) : [written];
      if (isSplit && projects.some((project) => isCalledAfter(name, project))) continue;
      const folded = fold(name);
      if (folded === "")
        return new Unreadable(`must contain a letter or a digit, but is ${quoted(name)}`);
      const key = isSplit ? splitName(folded).core : folded;
      const others = [...trades, ...(aliases.get(folded) ?? [])];
      const gp = made.get(key) ?? gpNamed(name, key, others, named);
      made.set(key, gp);
      gps.set(key, gp);
    }
    const [gp, ...rest] = gps.values();
    if (gp === undefined || rest.length > 0 || readIds.length === 0) return [...gps.values()];
    const identified: Record<string, unknown> & CanonicalGp = { ...gp };
    for (const [path, read] of readIds)
      setMember(identified, path, orFault(path, read(cells), faults));
    return [identified];
  };
}

function gpNamed(
  name: string,
  key: string,
  aliases: readonly string[],
  named: NamedGps,
): CanonicalGp {
  const { provenance, ...constants } = (named.constants ?? {}) as Partial<CanonicalGp>;
  return {
    record: "gp",
    id: `${namedGpPrefix}${key}`,
    name,
    ...(aliases.length > 0 && { aliases: [...aliases] }),
    ...constants,
    provenance: {
      basis: "named_sponsor",
      confidence: named.confidence ?? confidenceOfNames,
      ...provenance,
    },
  };
}

/** Returns the other spellings that `values` maps to each folded name. They become aliases, which a search finds. */
function aliasesOf({ names }: NamedGps): Map<string, string[]> {
  const aliases = new Map<string, string[]>();
  for (const { values = {} } of sourcesOf(names))
    for (const [spelling, name] of Object.entries(values)) {
      if (typeof name !== "string" || fold(spelling) === fold(name)) continue;
      const known = aliases.get(fold(name)) ?? [];
      const isNew = !known.some((one) => comparable(one) === comparable(spelling));
      aliases.set(fold(name), isNew ? [...known, spelling] : known);
    }
  return aliases;
}

/** Cells of a row that the mapping uses, in the order of the compiled mapping's columns. */
type Cells = readonly string[];

interface MappingContext {
  /** Returns the index of a column in `Cells`. Adds the column if it is new. */
  slotOf: (column: string) => number;
  /** Comparable forms of cells that count as missing. */
  missing: ReadonlySet<string>;
  dates: readonly DateFormat[];
  decimal?: DecimalMark;
  /** Splits a cell into texts. A source's `separator` takes precedence. */
  separate?: (text: string) => string[];
}

function sourcesOf(written: Written | Written[]): SourceOfField[] {
  return [written].flat().map((one) => (typeof one === "string" ? { column: one } : one));
}

/**
 * Compiles a function that returns a field's value, or a list for a list field. It returns undefined if the value is
 * missing, and Unreadable if a cell is not valid.
 */
function compileField(written: Written | Written[], field: Field, context: MappingContext) {
  const readers = sourcesOf(written).map((source) => compileSource(source, field, context));
  return (cells: Cells): unknown => {
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
        return new Unreadable(`${found.reason}; ${label} ${quoted(clean(text))}`, found.word);
      values.push(...found);
      if (!field.list && values.length > 0) break;
    }
    return values;
  };
}

interface SourceText {
  /** Words before the text in messages: `column "Units" holds`. */
  label: string;
  /** Returns the text from a row; empty if there is none. */
  read: (cells: Cells) => string;
}

function textsOf(source: SourceOfField, field: Field, context: MappingContext): SourceText[] {
  if (source.template !== undefined) return [templateText(source, field, context)];
  const columns = source.columns ?? (source.column === undefined ? [] : [source.column]);
  return columns.map((column) => {
    const slot = context.slotOf(column);
    return { label: `column ${quoted(column)} holds`, read: (cells) => cells[slot] ?? "" };
  });
}

function templateText(source: SourceOfField, field: Field, context: MappingContext): SourceText {
  const missing = missingOf(source, context);
  const parts = (parseTemplate(source.template!) ?? []).map((part, at) => {
    if (typeof part === "string") return part;
    // A cell that does not begin an address must not add a slash or a question mark to it.
    const escape = field.kind === "link" && at > 0 ? encodeURIComponent : String;
    return { ...part, escape, slot: context.slotOf(part.column) };
  });
  const read = (cells: Cells): string => {
    let text = "";
    for (const part of parts) {
      if (typeof part === "string") {
        text += part;
        continue;
      }
      const cell = clean(cells[part.slot] ?? "");
      if (!missing.has(comparable(cell))) text += part.escape(cell);
      else if (!part.optional) return "";
    }
    return clean(text);
  };
  return { label: "the template gives", read };
}

function missingOf(source: SourceOfField, context: MappingContext): ReadonlySet<string> {
  return new Set([...context.missing, ...(source.missing ?? []).map(comparable)]);
}

/**
 * Compiles a function that reads the values of a text. It tries `values`, then the words for missing cells, then
 * `present`. Any other text is split if there is a separator, and converted. Each piece of a split text is read in the
 * same way; only the first piece is read if the field is not a list.
 */
function compileMeaning(source: SourceOfField, field: Field, context: MappingContext) {
  const listed = new Map(
    Object.entries(source.values ?? {}).map(([word, value]) => [comparable(word), value]),
  );
  const missing = missingOf(source, context);
  const onlyListed = source.values !== undefined && source.otherwise !== "keep";
  const nearestWord = nearestFinder(onlyListed ? Object.keys(source.values ?? {}) : field.choices);
  const choiceOf = new Map(field.choices.map((choice) => [wordKey(choice), choice]));
  const options = { ...context, ...source, choiceOf };

  const read = (text: string): readonly unknown[] | Unreadable => {
    const found = onlyListed
      ? new Unreadable("must be listed in `values` of the mapping")
      : convert(text, field, options);
    if (!(found instanceof Unreadable)) return [found];
    if (source.otherwise_value !== undefined) return [source.otherwise_value];
    if (source.otherwise === "missing") return [];
    const word = nearestWord(clean(text));
    if (!onlyListed && field.kind !== "choice") return found;
    const value =
      word === undefined
        ? chooseMark + valueWords(field)
        : onlyListed
          ? listed.get(comparable(word))
          : word;
    const unknown = { cell: clean(text), value, isNew: !onlyListed };
    return new Unreadable(found.reason + nearestWords(word), unknown);
  };
  const known = (text: string): readonly unknown[] | undefined => {
    const word = comparable(text);
    const value = listed.get(word);
    if (value !== undefined) return value === null ? [] : [value].flat();
    if (missing.has(word)) return [];
    return source.present === undefined ? undefined : [source.present];
  };
  const { separator } = source;
  const separate =
    separator === undefined ? context.separate : (text: string) => text.split(separator);
  return (text: string): readonly unknown[] | Unreadable => {
    const whole = known(text);
    if (whole !== undefined || separate === undefined) return whole ?? read(text);
    const values: unknown[] = [];
    const pieces = separate(text);
    for (const piece of field.list ? pieces : pieces.slice(0, 1)) {
      const found = known(piece) ?? read(piece);
      if (found instanceof Unreadable) return found;
      values.push(...found);
    }
    return values;
  };
}

/** Describes the values that a field takes, for messages. */
export const valueWords = ({ choices }: Field): string =>
  `${choices.length > 0 ? `one of ${choices.join(", ")}` : "what the cell means"}, or null without quotes for no value`;

interface ReadingOptions extends Omit<SourceOfField, "dates" | "missing"> {
  dates: readonly DateFormat[];
  /** Words of a closed list, by their `wordKey`. */
  choiceOf: ReadonlyMap<string, string>;
}

/** Converts text to the type of a field. @param text text that is not blank, but may be untidy. */
function convert(
  text: string,
  field: Field,
  options: ReadingOptions,
): string | number | Unreadable {
  if (isFormula(text))
    return new Unreadable("is a formula; save the table with values instead of formulas");
  switch (field.kind) {
    case "paragraphs":
      return cleanParagraphs(text);
    case "date":
      return readDate(clean(text), options.dates);
    case "link":
      return readWebAddress(clean(text));
    case "decimal":
    case "whole":
    case "money":
      return readNumber(clean(text), field.kind, options);
    case "choice":
      return (
        options.choiceOf.get(wordKey(clean(text))) ??
        new Unreadable(`must be one of ${field.choices.join(", ")}`)
      );
    case "text":
      if (options.fold === true)
        return fold(text) || new Unreadable("must contain a letter or a digit");
      return options.case === "title" ? titleCase(clean(text)) : clean(text);
  }
}

/** Returns the form in which words of a closed list are compared. Separators stay only between digits: `5_10`. */
export const wordKey = (text: string) =>
  text
    .toLowerCase()
    .replace(/[\s_\p{Pd}]+/gu, "_")
    .replace(/(?<!\d)_|_(?!\d)/g, "");

const withScheme = /^(https?):\/\/([^/?#\s]+)([^\s]*)$/i;
const hostName =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}_-]*[\p{L}\p{N}])?\.)+[\p{L}][\p{L}\p{N}-]*[\p{L}\p{N}](?::\d+)?$/u;

/**
 * Returns an http or https address with its scheme and host in lower case (RFC 3986, 6.2.2.1). The path keeps its case,
 * which may matter. An address without a scheme, as people type it, gets `http://`. Returns Unreadable for other text.
 */
export function readWebAddress(text: string): string | Unreadable {
  const address = text.includes("://") ? text : `http://${text}`;
  const [, scheme, host, rest] = withScheme.exec(address) ?? [];
  if (scheme === undefined || host === undefined || !hostName.test(host) || !URL.canParse(address))
    return new Unreadable("must be a web address such as https://www.example.com");
  return `${scheme.toLowerCase()}://${host.toLowerCase()}${rest ?? ""}`;
}
