/** Drafts a mapping from a table: what each column probably holds, how it is written, and what only its owner knows. */
import { fold } from "#records/fold.ts";
import type { RecordKind } from "#records/kinds.ts";
import { comparable } from "./cells.ts";
import { readNumber, stateCode, valueWords, wordKey } from "./compile-mapping.ts";
import { type DateFormat, isoFormats, readDate } from "./dates.ts";
import { type Encoding } from "./encoding.ts";
import { fieldNamed, meaningOf, saysNothing } from "./headings.ts";
import { isFormula, quoted, Unreadable } from "./import-fault.ts";
import {
  chooseMark,
  type DecimalMark,
  type Field,
  fieldsOf,
  idField,
  namesField,
  type SourceOfField,
} from "./mapping.ts";
import { nearest } from "./nearest.ts";
import { cellsMax, type Column, readTable, type Table } from "./read-table.ts";

interface SuggestedMapping {
  /** Draft of a mapping, with a text that begins with `chooseMark` wherever the operator has to decide. */
  mapping: object;
  /** Lines that say what was guessed, and what could not be. */
  notes: string[];
}

/**
 * Drafts a mapping for a table.
 * @param encoding encoding of the file; undefined to recognise it.
 * @throws ImportFault if the file is no table with a header and rows.
 */
export async function suggestMapping(file: string, encoding?: Encoding): Promise<SuggestedMapping> {
  const table = await readTable(file, encoding);
  const { kind, isSure } = kindOf(table);
  const draft = openDraft(kind, isSure);
  const id = placeColumns(table, kind, draft);
  settleDecimals(draft);
  draft.notes.push(...leftOver(table, draft));
  return { mapping: mappingOf(table, draft, id), notes: notesOf(file, table, draft) };
}

/** Kinds of records, the likelier first. */
const likelyKinds: readonly RecordKind[] = ["project", "gp", "principal", "signal"];

/** Number of points below which the kind of record is asked, not guessed. */
const pointsForKind = 3;

/** Returns the kind of record that most columns fit. A column that fits no other kind has two points. */
function kindOf({ columns }: Table): { kind: RecordKind; isSure: boolean } {
  const found = columns.map(({ name }) => likelyKinds.filter((kind) => fieldNamed(kind, name)));
  const [best, second] = likelyKinds
    .map((kind) => {
      const kinds = found.filter((one) => one.includes(kind));
      return { kind, points: kinds.length + kinds.filter((one) => one.length === 1).length };
    })
    .toSorted((a, b) => b.points - a.points);
  return {
    kind: best!.kind,
    isSure: best!.points >= pointsForKind && best!.points > second!.points,
  };
}

/** A number field, whose decimal mark is settled once all columns are read. */
interface NumberColumn {
  source: SourceOfField;
  /** Mark that some cell can only be read with, and the cell; undefined if no cell or both marks are needed. */
  mark: DecimalMark | undefined;
  /** Cell that decides the mark, or else one that has another value with the other mark. */
  cell: string | undefined;
}

type Draft = ReturnType<typeof openDraft>;

function openDraft(kind: RecordKind, isKindSure: boolean) {
  return {
    kind,
    isKindSure,
    fields: new Map<string, { column: Column; source: SourceOfField }>(),
    numbers: [] as NumberColumn[],
    missing: new Set<string>(),
    decimal: undefined as string | undefined,
    notes: [] as string[],
  };
}

/** Places columns by their names, and by their cells. @returns the column of the id, if there is one. */
function placeColumns(table: Table, kind: RecordKind, draft: Draft): Column | undefined {
  const fields = new Map([...fieldsOf(kind), ["id", idField], ["gps", namesField]]);
  const counts = new Map<string, number>();
  for (const { name } of table.columns) counts.set(name, (counts.get(name) ?? 0) + 1);
  const usable = table.columns.filter(
    ({ name, filled }) => name !== "" && counts.get(name) === 1 && filled > 0,
  );
  for (const column of usable) {
    const path = fieldNamed(kind, column.name) ?? byCells(column, fields);
    const field = path === undefined ? undefined : fields.get(path);
    if (
      field !== undefined &&
      !draft.fields.has(field.path) &&
      !(field === namesField && kind === "gp")
    )
      place(column, field, draft);
  }
  for (const [name, count] of counts)
    if (count > 1 && name !== "")
      draft.notes.push(
        `The header has the column ${quoted(name)} ${count} times; rename all but one to use it.`,
      );
  const id = draft.fields.get("id")?.column ?? idOf(usable, table, draft);
  if (id !== undefined && !draft.fields.has("id"))
    draft.notes.push(`The id is ${quoted(id.name)}. It must stay the same from import to import.`);
  return id;
}

/** Returns the field that a column of an unknown name fills, judged by its cells. */
function byCells({ cells }: Column, fields: ReadonlyMap<string, Field>): string | undefined {
  const all = [...cells.keys()].filter((cell) => !saysNothing(cell));
  const most = (test: (cell: string) => boolean) =>
    all.length > 0 && all.filter(test).length >= all.length * 0.9;
  if (most((cell) => stateCode(cell) !== undefined))
    return ["state", "hq_state"].find((path) => fields.has(path));
  return most((cell) => /^\S+@\S+\.\S+$/.test(cell)) && fields.has("email") ? "email" : undefined;
}

/** Returns a column whose cells tell the rows apart: an id in a register, another id, or at worst the name. */
function idOf(usable: readonly Column[], { rows }: Table, { fields }: Draft): Column | undefined {
  const isUnique = ({ cells, filled }: Column) =>
    filled === rows && cells.size === Math.min(rows, cellsMax);
  // A few rows may be there twice. Where many are, the table lists something else than what the register numbers.
  const isAlmostUnique = ({ cells, filled }: Column) =>
    filled >= rows * 0.9 && cells.size >= Math.min(filled, cellsMax) * 0.9;
  const register = [...fields].find(
    ([path, { column }]) => path.startsWith("external_ids.") && isAlmostUnique(column),
  )?.[1].column;
  const placed = new Set(Array.from(fields.values(), ({ column }) => column));
  const other = usable.find(
    (column) => !placed.has(column) && idHeading.test(fold(column.name)) && isUnique(column),
  );
  const name = fields.get("name")?.column;
  return register ?? other ?? (name !== undefined && isUnique(name) ? name : undefined);
}

const idHeading = /(?:^| )(?:id|identifier|code|key|ref|reference)$/;

function place(column: Column, field: Field, draft: Draft): void {
  const source: SourceOfField = { column: column.name };
  const cells = [...column.cells.keys()].filter((cell) => {
    if (!saysNothing(cell) || field.choices.some((choice) => wordKey(choice) === wordKey(cell)))
      return true;
    draft.missing.add(cell);
    return false;
  });
  const fits =
    field.kind === "choice"
      ? placeWords(source, cells, field)
      : field.kind === "date"
        ? placeDates(source, cells, column, draft)
        : field.kind === "whole" || field.kind === "money" || field.kind === "decimal"
          ? placeNumbers(source, cells, column, field.kind, draft)
          : true;
  if (!fits) return;
  if (/(?:^|_)(?:city|market)$/.test(field.path) && cells.every((cell) => !/\p{Ll}/u.test(cell)))
    source.case = "title";
  if (field.list && field.path !== "gps" && cells.some((cell) => cell.includes(";")))
    source.separator = ";";
  draft.fields.set(field.path, { column, source });
}

/** Maximum number of unknown words in a column of a closed list. With more, the column is another one. */
const wordsMax = 25;

function placeWords(source: SourceOfField, cells: readonly string[], field: Field): boolean {
  const known = new Map(field.choices.map((choice) => [wordKey(choice), choice]));
  const unknown = new Map<string, string>();
  for (const cell of cells)
    if (!known.has(wordKey(cell)) && !unknown.has(comparable(cell)))
      unknown.set(comparable(cell), cell);
  if (unknown.size > wordsMax) return false;
  if (unknown.size === 0) return true;
  source.values = Object.fromEntries(
    Array.from(unknown.values(), (cell) => [
      cell,
      meaningOf(cell, field) ?? chooseWord(cell, field),
    ]),
  );
  source.otherwise = "keep";
  return true;
}

function chooseWord(cell: string, field: Field): string {
  const [similar] = nearest(cell, field.choices);
  return `${chooseMark}${similar === undefined ? "" : `${similar} if it means that, else `}${valueWords(field)}`;
}

const otherFormats = ["ymd", "YYYYMMDD", "MM/YYYY"] as const;
const digitsOnly = /^[\d\s.,/:TZAPM-]+$/i;

function placeDates(
  source: SourceOfField,
  cells: readonly string[],
  { cells: lines }: Column,
  draft: Draft,
): boolean {
  const reads = (cell: string, format: DateFormat) =>
    !(readDate(cell, [format]) instanceof Unreadable);
  const formats = new Set<DateFormat>();
  const inDoubt: string[] = [];
  const proofs: Partial<Record<"dmy" | "mdy", string>> = {};
  const faults: string[] = [];
  for (const cell of cells) {
    const single = [...isoFormats, ...otherFormats].find((format) => reads(cell, format));
    const isDayFirst = reads(cell, "dmy");
    const isMonthFirst = reads(cell, "mdy");
    if (single !== undefined) formats.add(single);
    else if (isDayFirst && isMonthFirst) inDoubt.push(cell);
    else if (!isDayFirst && !isMonthFirst) faults.push(cell);
    else {
      const order = isDayFirst ? "dmy" : "mdy";
      // The name of a month says nothing about the order of numbers.
      if (digitsOnly.test(cell)) proofs[order] ??= cell;
      else formats.add(order);
    }
  }
  if (faults.length * 2 > cells.length) return false;
  const orders = (["dmy", "mdy"] as const).filter((order) => proofs[order] !== undefined);
  const undecided = inDoubt[0] ?? proofs.dmy;
  if (orders.length === 1) {
    draft.notes.push(
      `${quoted(source.column!)} is read as ${orders[0]}, because of ${quoted(proofs[orders[0]!]!)}.`,
    );
    source.dates = [orders[0]!, ...[...formats].filter((format) => format !== orders[0])];
  } else if (undecided !== undefined)
    source.dates = [
      `${chooseMark}dmy if ${undecided} is written day, month, year; mdy if it is month, day, year` as DateFormat,
      ...[...formats].filter((format) => format !== "dmy" && format !== "mdy"),
    ];
  else if ([...formats].some((format) => !isoFormats.includes(format))) source.dates = [...formats];
  if (faults.length > 0)
    draft.notes.push(cellsNote(source.column!, faults, lines, "no date that can be read"));
  return true;
}

function placeNumbers(
  source: SourceOfField,
  cells: readonly string[],
  column: Column,
  kind: "whole" | "money" | "decimal",
  draft: Draft,
): boolean {
  const read = (cell: string, decimal: DecimalMark, multiply_by?: number) =>
    readNumber(cell, kind, { decimal, ...(multiply_by !== undefined && { multiply_by }) });
  const proof: Partial<Record<DecimalMark, string>> = {};
  let doubtful: string | undefined;
  const faults: string[] = [];
  let fraction: string | undefined;
  for (const cell of cells) {
    const byPoint = read(cell, ".", 1);
    const byComma = read(cell, ",", 1);
    const marks = ([".", ","] as const).filter(
      (_, at) => typeof [byPoint, byComma][at] === "number",
    );
    if (marks.length === 0) faults.push(cell);
    else if (marks.length === 1) proof[marks[0]!] ??= cell;
    else if (byPoint !== byComma) doubtful ??= cell;
    if (marks.length === 1 && read(cell, marks[0]!) instanceof Unreadable) fraction ??= cell;
  }
  if (faults.length * 2 > cells.length) return false;
  const factor = factorIn(column.name);
  if (kind === "money" && factor !== undefined) {
    source.multiply_by = factor;
    draft.notes.push(
      `${quoted(column.name)} is multiplied by ${factor.toLocaleString("en-US")}, because of its name.`,
    );
  } else if (kind === "money" && fraction !== undefined)
    source.multiply_by =
      `${chooseMark}1 if ${fraction} is dollars, 1000 if thousands, 1000000 if millions, without quotes` as unknown as number;
  if (faults.length > 0)
    draft.notes.push(cellsNote(column.name, faults, column.cells, "no number that can be read"));
  const [mark, other] = Object.keys(proof) as DecimalMark[];
  if (mark !== undefined && other === undefined)
    draft.numbers.push({ source, mark, cell: proof[mark] });
  else draft.numbers.push({ source, mark: undefined, cell: proof["."] ?? doubtful });
  return true;
}

/** Returns the factor that a column's name states, as in `Budget ($000)` and `Cost, $ millions`. */
function factorIn(name: string): number | undefined {
  if (/000s?\b|\bthousands?\b|\bTUSD\b|\$ ?k\b|\(k\)/i.test(name)) return 1000;
  return /\bmillions?\b|\bmio\b|\bmm\b|\$ ?m\b|\(m\)/i.test(name) ? 1_000_000 : undefined;
}

/** Sets the decimal mark of the table if its columns agree, else of each column. Asks where no cell decides. */
function settleDecimals(draft: Draft): void {
  const decided = draft.numbers.filter(({ mark }) => mark !== undefined);
  const [first] = decided;
  if (first !== undefined && decided.every(({ mark }) => mark === first.mark)) {
    draft.decimal = first.mark;
    draft.notes.push(
      `Numbers are read with a decimal ${first.mark === "," ? "comma" : "point"}, because of ${quoted(first.cell!)} in ${quoted(first.source.column!)}.`,
    );
    return;
  }
  for (const { source, mark } of decided) source.decimal = mark!;
  const doubtful = draft.numbers.find(({ mark, cell }) => mark === undefined && cell !== undefined);
  if (doubtful !== undefined)
    draft.decimal = `${chooseMark}, if ${doubtful.cell!} has a decimal comma or its point groups thousands; . if the reverse`;
}

const shownMax = 3;

function cellsNote(
  column: string,
  cells: readonly string[],
  lines: Column["cells"],
  what: string,
): string {
  const shown = cells.slice(0, shownMax).map((cell) => `${quoted(cell)} (line ${lines.get(cell)})`);
  return `${quoted(column)} has ${cells.length === 1 ? "a cell that is" : `${cells.length} cells that are`} ${what}: ${shown.join(", ")}. Correct them, or list them under "missing".`;
}

/** Returns notes on the columns that no field takes, and on cells with formulas. */
function leftOver({ columns }: Table, draft: Draft): string[] {
  const used = new Set([...draft.fields.values()].map(({ column }) => column));
  const left = columns.filter((column) => !used.has(column));
  const notes = left.map(({ name, at, cells }) => {
    const [cell] = cells.keys();
    const looks = cell === undefined ? "empty" : `such as ${quoted(cell)}`;
    const path = fieldNamed(draft.kind, name);
    const why =
      path === undefined || cell === undefined
        ? ""
        : `; its cells do not suit ${path}, or another column has it`;
    return `  column ${at} ${quoted(name)}: ${looks}${why}`;
  });
  const formulas = columns.flatMap(({ name, at, cells }) => {
    const found = [...cells].find(([cell]) => isFormula(cell));
    return found === undefined
      ? []
      : [
          `Line ${found[1]}, column ${at} ${quoted(name)}: ${quoted(found[0])} is a formula. Save the table with values.`,
        ];
  });
  return notes.length === 0 ? formulas : [...formulas, "Not placed:", ...notes];
}

function mappingOf(
  { columns, format: { encoding, delimiter, quotes } }: Table,
  { kind, isKindSure, fields, missing, decimal }: Draft,
  id: Column | undefined,
): object {
  const short = (source: SourceOfField) =>
    Object.keys(source).length === 1 ? source.column! : source;
  const written: Record<string, unknown> = {};
  for (const [path, { source }] of fields) {
    if (path === "id" || path === "gps") continue;
    const [group = "", member] = path.split(".");
    if (member === undefined) written[path] = short(source);
    else written[group] = { ...(written[group] as object | undefined), [member]: short(source) };
  }
  const names = columns
    .map(({ name }) => name)
    .filter((name) => name !== "")
    .join(", ");
  for (const needed of kind === "signal" ? ["title", "date"] : ["name"])
    written[needed] ??= `${chooseMark}the column with the ${needed}: ${names}`;
  const named = fields.get("gps");
  return {
    ...(encoding !== "utf-8" && { encoding }),
    ...(delimiter !== "," && { delimiter }),
    ...(delimiter === "\t" && quotes && { quotes }),
    ...(missing.size > 0 && { missing: [...missing] }),
    ...(decimal !== undefined && { decimal }),
    records: [
      {
        record: isKindSure
          ? kind
          : `${chooseMark}what each row is, one of ${likelyKinds.join(", ")}; the fields are those of a ${kind}`,
        id:
          id?.name ??
          `${chooseMark}the column that tells the rows apart, or of several {"template": "{Name}/{City}"}`,
        fields: written,
      },
    ],
    ...(named !== undefined && { named_gps: { names: short(named.source) } }),
  };
}

const delimiterNames: Readonly<Record<string, string>> = {
  ",": "commas",
  ";": "semicolons",
  "\t": "tabs",
  "|": "bars",
};

function notesOf(
  file: string,
  { rows, format: { encoding, delimiter = "," } }: Table,
  draft: Draft,
): string[] {
  const { kind, fields, missing } = draft;
  const placed = Array.from(fields, ([path, { column, source }]) => {
    const { values } = source;
    const words =
      values === undefined
        ? ""
        : `, with a meaning for ${Object.keys(values).map(quoted).join(", ")}`;
    return `  column ${column.at} ${quoted(column.name)}: ${path === "gps" ? "names of GPs" : path}${words}`;
  });
  return [
    `${file}: ${rows} rows in ${encoding}, cells between ${delimiterNames[delimiter]}. Each row is taken for a ${kind}.`,
    "Placed; check each:",
    ...placed,
    ...(missing.size > 0
      ? [`Cells that say nothing: ${[...missing].map(quoted).join(", ")}.`]
      : []),
    ...draft.notes,
    `Every text that begins with ${quoted(chooseMark.trim())} is a question; the import refuses the mapping until it is answered.`,
  ];
}
