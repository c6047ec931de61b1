/** Drafts a mapping from a table: finds fields by the names of columns, and formats by their cells. */
import { isUtf8 } from "node:buffer";
import { fold } from "#records/fold.ts";
import { eachOf, type RecordKind, recordKinds } from "#records/kinds.ts";
import { clean, comparable } from "./cells.ts";
import { setMember, valueWords, wordKey } from "./compile-mapping.ts";
import { cellDecoder, type CsvRow, readRows } from "./csv.ts";
import { type DateFormat, isoFormats, readDate } from "./dates.ts";
import type { Encoding } from "./encoding.ts";
import words from "./headings.json" with { type: "json" };
import { ImportFault, quoted, Unreadable } from "./import-fault.ts";
import {
  chooseMark,
  type DecimalMark,
  decimalMarks,
  type Field,
  fieldsOf,
  idField,
  namesField,
  neededIn,
  type NumberKind,
  numberKinds,
  type SourceOfField,
} from "./mapping.ts";
import { nearest } from "./nearest.ts";
import { readNumber } from "./numbers.ts";

interface Column {
  name: string;
  /** Number of the column in the header, from 1. */
  at: number;
  /** Distinct cells that are not blank. */
  cells: Set<string>;
}

type Table = Awaited<ReturnType<typeof readTable>>;

interface Draft {
  kind: RecordKind;
  fields: Map<string, { column: Column; source: SourceOfField }>;
  /** First number that needs each mark, as messages name it. `either`: the first that reads differently by mark. */
  numbers: Map<DecimalMark | "either", string>;
  /** Cells for an unknown value, such as `TBD`. */
  missing: Set<string>;
  notes: string[];
}

/**
 * Drafts a mapping for a table.
 * @param encoding encoding of the file; undefined to recognise it.
 * @returns the draft, with a text that begins with `chooseMark` wherever the operator has to decide. The notes say what
 *   was guessed and which columns are not used.
 * @throws ImportFault if the file cannot be read as a table with a known column and at least one row.
 */
export async function suggestMapping(file: string, encoding?: Encoding) {
  const table = await readTable(file, encoding);
  const { kind, isSure } = kindOf(file, table);
  const draft: Draft = {
    kind,
    fields: new Map(),
    numbers: new Map(),
    missing: new Set(),
    notes: [],
  };
  placeColumns(table, draft);
  const mapping = mappingOf(table, draft, isSure);
  return { mapping, notes: notesOf(file, table, draft) };
}

/** Delimiters, each with its name in notes. */
const delimiters = { ",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars" };
type Delimiter = keyof typeof delimiters;

/** Maximum number of rows to look at. What they leave undecided becomes a question. */
const rowsMax = 5000;

/** Reads the first rows. Chooses the delimiter by the width of the header times the share of rows as wide and sound. */
async function readTable(file: string, given: Encoding | undefined) {
  const marked = (Object.keys(delimiters) as Delimiter[]).map((one) => [one, true] as const);
  const tried = await Promise.allSettled(
    [...marked, ["\t", false] as const].map(async ([delimiter, quotes]) => {
      const rows: CsvRow[] = [];
      const format = { encoding: given ?? "utf-8", delimiter, quotes };
      for await (const row of readRows(file, format)) if (rows.push(row) > rowsMax) break;
      const width = rows[0]?.cells.length ?? 0;
      const same = rows.filter((row) => row.cells.length === width && row.quoteFault === "").length;
      return { delimiter, quotes, rows, score: width > 1 ? (width * same) / rows.length : 0 };
    }),
  );
  const read = tried.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  const [best] = read.toSorted((a, b) => b.score - a.score);
  const fault = tried.find((one) => one.status === "rejected");
  if (fault && !best?.score) throw fault.reason;
  const { rows } = best!;
  if (rows.length < 2)
    throw new ImportFault(file, null, "has no row below its header; --suggest needs at least one");
  const encoding = given ?? (rows.every(isRowUtf8) ? "utf-8" : "windows-1252");
  const [names = [], ...others] = rows.map((row) => textsOf(file, row, encoding));
  const columns = names.map((name, at): Column => ({ name, at: at + 1, cells: new Set() }));
  for (const texts of others)
    for (const { at, cells } of columns) {
      const text = texts[at - 1] ?? "";
      if (text !== "") cells.add(text);
    }
  return { ...best!, encoding, columns, headerLine: rows[0]!.line, rowCount: others.length };
}

const isRowUtf8 = ({ cells }: CsvRow) => isUtf8(Buffer.from(cells.join(), "latin1"));

function textsOf(file: string, { cells, line }: CsvRow, encoding: Encoding): string[] {
  const decode = cellDecoder(encoding);
  return cells.map((cell, at) => {
    if (cell.includes("\0"))
      throw new ImportFault(
        file,
        line,
        "has a zero byte, so the file is not text; save the table as CSV",
      );
    const text = decode(cell);
    if (typeof text === "string") return clean(text);
    throw new ImportFault(file, line, `column ${at + 1} ${text.reason}`);
  });
}

/** Kinds of records, likeliest first. */
const likelyKinds: readonly RecordKind[] = [...new Set(["project", ...recordKinds] as const)];

/** Minimum number of columns that fit the kind of record. The draft asks for the kind if there are fewer. */
const columnsForKind = 3;

/** Returns the kind with the most fitting columns, and whether it is certain. @throws ImportFault if no column fits. */
function kindOf(file: string, { columns, headerLine }: Table) {
  const [best, second] = likelyKinds
    .map((kind) => ({ kind, fits: columns.filter(({ name }) => fieldNamed(kind, name)).length }))
    .toSorted((a, b) => b.fits - a.fits);
  if (best!.fits === 0) {
    const names = columns.slice(0, 5).map(({ name }) => quoted(name));
    throw new ImportFault(
      file,
      headerLine,
      `no column of this header is known: it begins with ${names.join(", ")}; the first line must name the columns, such as name, city and units`,
    );
  }
  return { kind: best!.kind, isSure: best!.fits >= columnsForKind && best!.fits > second!.fits };
}

function placeColumns({ columns }: Table, draft: Draft): void {
  const fields = new Map([...fieldsOf(draft.kind), ["id", idField], ["gps", namesField]]);
  const byName = Map.groupBy(columns, ({ name }) => name);
  for (const column of columns) {
    const field = fields.get(fieldNamed(draft.kind, column.name) ?? "");
    const isUsable = column.cells.size > 0 && byName.get(column.name)!.length === 1;
    if (field === undefined || !isUsable || draft.fields.has(field.path)) continue;
    const source = sourceOf(column, field, draft);
    if (source !== undefined) draft.fields.set(field.path, { column, source });
  }
}

/** Returns a column as a field's source; undefined if its cells do not fit. Adds missing words and notes to `draft`. */
function sourceOf(column: Column, field: Field, draft: Draft): SourceOfField | undefined {
  const isWord = (cell: string) =>
    field.choices.some((choice) => wordKey(choice) === wordKey(cell));
  const bySilence = Map.groupBy(column.cells, (cell) => saysNothing(cell) && !isWord(cell));
  const cells = bySilence.get(false) ?? [];
  const hasSeveral = field.list && field !== namesField && cells.some((cell) => cell.includes(";"));
  const all = cells.flatMap((cell) => (hasSeveral ? cell.split(/\s*;\s*/) : cell)).filter(Boolean);
  const written = writingOf(column, all, field, draft);
  if (written === undefined) return undefined;
  for (const cell of bySilence.get(true) ?? []) draft.missing.add(cell);
  const isPlace = /(?:^|_)(?:city|market)$/.test(field.path);
  return {
    column: column.name,
    ...written,
    ...(isPlace && cells.every((cell) => !/\p{Ll}/u.test(cell)) && { case: "title" }),
    ...(hasSeveral && { separator: ";" }),
  };
}

function writingOf(column: Column, cells: readonly string[], field: Field, draft: Draft) {
  if (field.kind === "choice") return writingOfWords(cells, field);
  if (field.kind === "date") return writingOfDates(column, cells, draft);
  const kind = numberKinds.find((one) => one === field.kind);
  return kind === undefined ? {} : writingOfNumbers(column, cells, kind, draft);
}

/** Maximum number of unknown words in a column for a closed list. A column with more must hold something else. */
const wordsMax = 25;

function writingOfWords(cells: readonly string[], field: Field) {
  const known = new Set(field.choices.map(wordKey));
  const others = cells.filter((cell) => !known.has(wordKey(cell)));
  const unknown = Map.groupBy(others, comparable);
  if (unknown.size > wordsMax) return undefined;
  if (unknown.size === 0) return {};
  const values = Array.from(unknown.values(), ([cell = ""]) => {
    const [similar] = nearest(cell, field.choices);
    const perhaps = similar === undefined ? "" : `${similar} if it means that, else `;
    return [cell, meaningOf(cell, field) ?? `${chooseMark}${perhaps}${valueWords(field)}`];
  });
  return { values: Object.fromEntries(values), otherwise: "keep" as const };
}

const plainFormats: readonly DateFormat[] = [...isoFormats, "ymd", "YYYYMMDD", "MM/YYYY"];
const orders = ["dmy", "mdy"] as const;

/** Returns the format of a date, or "either" if its order is in doubt. Returns undefined if the cell is not a date. */
function formatOf(cell: string): DateFormat | "either" | undefined {
  const reads = (format: DateFormat) => !(readDate(cell, [format]) instanceof Unreadable);
  return plainFormats.find(reads) ?? (orders.every(reads) ? "either" : orders.find(reads));
}

function writingOfDates(column: Column, cells: readonly string[], { notes }: Draft) {
  const byFormat = Map.groupBy(cells, formatOf);
  if (areMost(byFormat.get(undefined), cells)) return undefined;
  // The name of a month says nothing about the order of numbers.
  const proofs = orders.flatMap(
    (order) => byFormat.get(order)?.find((cell) => /^[^a-z]*(?:[ap]m)?$/i.test(cell)) ?? [],
  );
  const [proof] = proofs;
  const inDoubt = byFormat.get("either")?.[0] ?? proof;
  let dates = [...byFormat.keys()].filter((one) => one !== undefined && one !== "either");
  if (proofs.length === 1) {
    const order = formatOf(proof!) as DateFormat;
    dates = [order, ...dates.filter((one) => one !== order)];
    notes.push(`Dates in ${quoted(column.name)} are ${order}, because of ${quoted(proof!)}.`);
  } else if (inDoubt !== undefined) {
    const question = `${chooseMark}dmy if ${inDoubt} is written day, month, year; mdy if it is month, day, year`;
    dates.unshift(question as DateFormat);
  }
  return dates.every((one) => isoFormats.includes(one)) ? {} : { dates };
}

function writingOfNumbers(
  column: Column,
  cells: readonly string[],
  kind: NumberKind,
  { numbers, notes }: Draft,
) {
  const byMark = Map.groupBy(cells, (cell) => {
    const [byPoint, byComma] = decimalMarks.map((decimal) =>
      readNumber(cell, kind, { decimal, multiply_by: 1 }),
    );
    if (typeof byPoint !== "number") return typeof byComma === "number" ? "," : undefined;
    if (typeof byComma !== "number") return ".";
    return byPoint === byComma ? "same" : "either";
  });
  if (areMost(byMark.get(undefined), cells)) return undefined;
  for (const mark of [...decimalMarks, "either"] as const) {
    const cell = byMark.get(mark)?.[0];
    if (cell !== undefined && !numbers.has(mark))
      numbers.set(mark, `${quoted(cell)} in ${quoted(column.name)}`);
  }
  const factor = kind === "money" ? factorIn(column.name) : undefined;
  if (factor === undefined) return {};
  const factorWords = factor.toLocaleString("en-US");
  notes.push(`${quoted(column.name)} is multiplied by ${factorWords}, because of its name.`);
  return { multiply_by: factor };
}

/** Returns the factor that a column's name states, as in `Budget ($000)` and `Cost, $ millions`; undefined if none. */
function factorIn(name: string): number | undefined {
  if (/000s?\b|\bthousands?\b|\bTUSD\b|\$ ?k\b|\(k\)/i.test(name)) return 1000;
  return /\bmillions?\b|\bmio\b|\bmm\b|\$ ?m\b|\(m\)/i.test(name) ? 1_000_000 : undefined;
}

/** Reports whether most cells cannot be read, which means that the column holds something else. */
const areMost = (faulty: readonly string[] = [], cells: readonly string[]) =>
  faulty.length * 2 > cells.length;

/** Returns the table's decimal mark, or a question if the cells do not decide it; undefined if no cell needs it. */
function decimalOf({ numbers, notes }: Draft): string | undefined {
  const [mark, other] = decimalMarks.filter((one) => numbers.has(one));
  if (mark !== undefined && other !== undefined)
    return `${chooseMark}the decimal mark, ${mark} or ${other}; if some columns use the other one, set "decimal" in their fields; compare ${numbers.get(mark)} with ${numbers.get(other)}`;
  if (mark !== undefined) {
    const name = mark === "," ? "comma" : "point";
    notes.push(`Numbers are read with a decimal ${name}, because of ${numbers.get(mark)}.`);
    return mark;
  }
  const cell = numbers.get("either");
  return (
    cell &&
    `${chooseMark}the decimal mark: , if numbers are written like 1.234,5; . if like 1,234.5; it decides what ${cell} means`
  );
}

/** Returns the name of the column with the id, or else with a register's numbers. Returns a question if none fits. */
function idOf({ rowCount }: Table, { fields, notes }: Draft): string {
  const named = fields.get("id")?.column.name;
  if (named !== undefined) return named;
  // A few rows may repeat a number. The rows describe something other than the register's entries if many do.
  const [, register] =
    [...fields].find(
      ([path, { column }]) =>
        path.startsWith("external_ids.") && column.cells.size >= rowCount * 0.8,
    ) ?? [];
  if (register !== undefined) {
    const { name } = register.column;
    notes.push(`The id of a row is its ${quoted(name)}, which must stay the same in all imports.`);
    return name;
  }
  return `${chooseMark}the name of the column that tells the rows apart; to combine several columns, replace this text with {"template": "{Name}/{City}"}`;
}

function mappingOf(table: Table, draft: Draft, isKindSure: boolean): object {
  const { encoding, delimiter, quotes, columns } = table;
  const short = (source: SourceOfField) =>
    Object.keys(source).length === 1 ? source.column! : source;
  const fields: Record<string, unknown> = {};
  for (const [path, { source }] of draft.fields)
    if (path !== "id" && path !== "gps") setMember(fields, path, short(source));
  const names = columns.map(({ name }) => name).filter((name) => name !== "");
  for (const needed of neededIn(draft.kind))
    fields[needed] ??=
      `${chooseMark}the name of the column that holds the ${needed}, one of ${names.join(", ")}`;
  const record = isKindSure
    ? draft.kind
    : `${chooseMark}what each row is, one of ${likelyKinds.join(", ")}; the fields of this draft are those of a ${draft.kind}`;
  const decimal = decimalOf(draft);
  const named = draft.fields.get("gps");
  return {
    ...(encoding !== "utf-8" && { encoding }),
    ...(delimiter !== "," && { delimiter }),
    ...(delimiter === "\t" && { quotes }),
    ...(draft.missing.size > 0 && { missing: [...draft.missing] }),
    ...(decimal !== undefined && { decimal }),
    records: [{ record, id: idOf(table, draft), fields }],
    ...(named !== undefined && { named_gps: { names: short(named.source) } }),
  };
}

function notesOf(file: string, table: Table, { kind, fields, notes }: Draft): string[] {
  const nameOf = ({ at, name }: Column) => `  column ${at} ${quoted(name)}`;
  const placed = Array.from(fields, ([path, { column }]) => {
    return `${nameOf(column)}: ${path === namesField.path ? "names of GPs" : path}`;
  });
  const used = new Set(Array.from(fields.values(), ({ column }) => column));
  const left = table.columns.filter((column) => !used.has(column));
  const whyLeft = ({ name, cells }: Column) => {
    const path = fieldNamed(kind, name);
    if (path === undefined || cells.size === 0) return "";
    const filler = fields.get(path)?.column;
    if (filler !== undefined) return `; column ${filler.at} already fills ${path}`;
    return table.columns.filter((one) => one.name === name).length > 1
      ? "; another column has the same name"
      : `; its cells are not valid for ${path}`;
  };
  const others = left.map((column) => {
    const [cell] = column.cells;
    const looks = cell === undefined ? "empty" : `such as ${quoted(cell)}`;
    return `${nameOf(column)}: ${looks}${whyLeft(column)}`;
  });
  return [
    `${file}: cells separated by ${delimiters[table.delimiter]}, in ${table.encoding}; ${table.rowCount === 1 ? "1 row was" : `${table.rowCount} rows were`} read. The draft treats each row as a ${kind}.`,
    "Columns that fill a field; check each of them:",
    ...placed,
    ...notes,
    ...(others.length === 0 ? [] : ["Columns that fill no field:", ...others]),
    `Replace each text in the mapping that begins with ${quoted(chooseMark.trim())}; an import refuses a mapping that still has one.`,
  ];
}

/** Kind → path of a field → usual headings of its column, separated by commas. `every` stands for all kinds. */
const headings: Readonly<Record<string, Partial<Record<string, string>>>> = words.headings;

/** Kind → folded heading → path of the field. `gps` stands for names of GPs. */
const fieldOfHeading = eachOf(recordKinds, (kind) => {
  const fields = new Map<string, string>();
  for (const path of ["id", ...fieldsOf(kind).keys()])
    for (const list of [fold(path), headings["every"]![path], headings[kind]?.[path]])
      for (const heading of list?.split(", ") ?? []) fields.set(heading, path);
  return fields;
});

/** Text in parentheses that names a unit, as in `Budget ($000)`. Other words there may narrow what a column holds. */
const unit = /\((?:in )?(?:[$€\d,.\s]|us|usd|eur|k|m|mm|mio|thousands?|millions?|sf|sq ?ft)+\)/gi;

/** Returns the path of the field that a column's name means; undefined if none. Reads `entityName` as two words. */
function fieldNamed(kind: RecordKind, heading: string): string | undefined {
  const words = heading.replace(unit, " ").replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2");
  return fieldOfHeading[kind].get(fold(words));
}

const wordOfSpelling = new Map(
  Object.entries(words.spellings).flatMap(([word, others]) =>
    others.split(", ").map((other) => [wordKey(other), word] as const),
  ),
);

/** Returns the word of a closed list that a cell spells differently. Returns undefined if there is none. */
function meaningOf(cell: string, { choices }: Field): string | undefined {
  const word = wordOfSpelling.get(wordKey(cell));
  return word !== undefined && choices.includes(word) ? word : undefined;
}

const silent = new Set(words.silent.split(", "));

/** Reports whether a cell is a word for an unknown value, such as `TBD`. */
const saysNothing = (cell: string): boolean => silent.has(comparable(cell));
