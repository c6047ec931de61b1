/** Reads a table whose encoding and delimiter nobody has named, and refuses what is none. */
import { recordKinds } from "#records/kinds.ts";
import { clean } from "./cells.ts";
import { cellDecoder, type CsvRow, readRows, type TableFormat } from "./csv.ts";
import type { Encoding } from "./encoding.ts";
import { fieldNamed } from "./headings.ts";
import { ImportFault, quoted } from "./import-fault.ts";
import { readBytes } from "./source-file.ts";

type Format = TableFormat & { encoding: Encoding };

/** Returns the file's encoding: UTF-8 if all of it is, else windows-1252. @throws ImportFault if it is no text. */
async function encodingOf(file: string): Promise<Encoding> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let encoding: Encoding = "utf-8";
  let line = 1;
  for await (const chunk of readBytes(file)) {
    const zero = chunk.indexOf(0);
    line += (zero < 0 ? chunk : chunk.subarray(0, zero)).toString("latin1").split("\n").length - 1;
    if (zero >= 0) throw new ImportFault(file, line, "has a zero byte, so the file is not text");
    try {
      if (encoding === "utf-8") decoder.decode(chunk, { stream: true });
    } catch {
      encoding = "windows-1252";
    }
  }
  return encoding;
}

const delimiters = [",", ";", "\t", "|"];
const rowsForDelimiter = 20;

/** Returns the delimiter that cuts the first rows into most cells, as many in each as in the header. */
async function formatOf(file: string, encoding: Encoding): Promise<Format> {
  const tried = await Promise.all(
    delimiters.map(async (delimiter) => {
      const format = { encoding, delimiter, quotes: true };
      const rows: CsvRow[] = [];
      for await (const row of readRows(file, format))
        if (rows.push(row) === rowsForDelimiter) break;
      const width = rows[0]?.cells.length ?? 0;
      const same = rows.filter(({ cells }) => cells.length === width).length;
      return { format, score: width > 1 ? (width * same) / rows.length : 0 };
    }),
  );
  return tried.reduce((best, one) => (one.score > best.score ? one : best)).format;
}

/** A column of a table, with what its cells hold. */
export interface Column {
  name: string;
  /** Place in the header, from 1. */
  at: number;
  /** Different cells that are not blank, each with its first line. */
  cells: Map<string, number>;
  /** Number of cells that are not blank. */
  filled: number;
}

export interface Table {
  format: Format;
  columns: Column[];
  rows: number;
}

/** Maximum number of different cells that are looked at in a column. What they leave undecided is asked. */
export const cellsMax = 5000;

/**
 * Reads a table.
 * @param encoding encoding of the file; undefined to recognise it.
 * @throws ImportFault if the file is no table with a header and rows.
 */
export async function readTable(file: string, encoding?: Encoding): Promise<Table> {
  const format = await formatOf(file, encoding ?? (await encodingOf(file)));
  const decode = cellDecoder(format.encoding);
  let columns: Column[] | undefined;
  let rows = 0;
  for await (const row of readRows(file, format)) {
    const cells = row.cells.map((cell, at) => {
      const text = decode(cell);
      if (typeof text === "string") return clean(text);
      throw new ImportFault(file, row.line, `column ${at + 1} ${text.reason}`);
    });
    if (columns === undefined) {
      columns = cells.map((name, at) => ({ name, at: at + 1, cells: new Map(), filled: 0 }));
      refuseHeader(file, row.line, columns);
      continue;
    }
    rows++;
    for (const [at, { cells: seen }] of columns.entries()) {
      const cell = cells[at] ?? "";
      if (cell === "") continue;
      columns[at]!.filled++;
      if (!seen.has(cell) && seen.size < cellsMax) seen.set(cell, row.line);
    }
  }
  if (columns === undefined || rows === 0)
    throw new ImportFault(
      file,
      null,
      "has no row below its header, and a mapping is drafted from rows",
    );
  return { format, columns, rows };
}

/** Throws an ImportFault if a file's first row is not a header: no name in it is known. */
function refuseHeader(file: string, line: number, columns: readonly Column[]): void {
  if (recordKinds.some((kind) => columns.some(({ name }) => fieldNamed(kind, name) !== undefined)))
    return;
  const value = columns.find(({ name }) => /^[^\p{L}]*\d[^\p{L}]*$/u.test(name));
  const reason =
    value === undefined
      ? `no column of the header is known, such as name, city, units or status; it has ${columns
          .map(({ name }) => quoted(name))
          .slice(0, 5)
          .join(", ")}`
      : `this is not a header, because column ${value.at} holds ${quoted(value.name)}`;
  throw new ImportFault(file, line, `${reason}; the first line must name the columns`);
}
