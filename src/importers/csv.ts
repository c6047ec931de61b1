/** Reads records from CSV files by a mapping, as docs/importing.md describes. */
import { pipeline, Readable } from "node:stream";
import { CsvError, type Options, parse } from "csv-parse";
import { parse as parseText } from "csv-parse/sync";
import type { RecordFault, SourceEntry } from "#records/canonical.ts";
import { clean } from "./cells.ts";
import { type CompiledMapping, compileMapping } from "./compile-mapping.ts";
import { decoderOf, type Encoding } from "./encoding.ts";
import { ImportFault, refuseEmpty, quoted, Unreadable } from "./import-fault.ts";
import type { Mapping } from "./mapping.ts";
import { nearest } from "./nearest.ts";
import { readBytes, type ReadOptions, shownName } from "./source-file.ts";

/**
 * Yields an entry for each row below the header, except blank ones. The entry of an unreadable row has only faults.
 * @param written mapping from `readMapping`. An encoding in the options overrides the mapping's.
 * @throws ImportFault if a file cannot be used, for example because a column is missing, a quote is never closed, or
 *   the last row is cut off.
 */
export async function* readCsv(
  files: readonly string[],
  written: Mapping,
  { encoding = written.encoding ?? "utf-8", allowsEmpty = false }: ReadOptions = {},
): AsyncGenerator<SourceEntry, void> {
  const mapping = { ...written, encoding };
  const compiled = compileMapping(mapping);
  for (const file of files) {
    const name = shownName(file);
    let readRow: ((row: CsvRow) => SourceEntry) | undefined;
    let isEmpty = true;
    for await (const row of readRows(file, mapping)) {
      if (readRow === undefined) {
        readRow = rowReader(name, row, encoding, compiled);
        continue;
      }
      isEmpty = false;
      yield readRow(row);
    }
    if (isEmpty && !allowsEmpty) refuseEmpty(name);
  }
}

function rowReader(file: string, header: CsvRow, encoding: Encoding, compiled: CompiledMapping) {
  const decode = cellDecoder(encoding);
  const decoded = header.cells.map(decode);
  const names = decoded.map((name) => (name instanceof Unreadable ? "" : clean(name)));
  const fault = columnsFault(names, compiled.columns);
  const { reason } = decoded.find((name) => name instanceof Unreadable) ?? {};
  const unread = reason === undefined ? "" : `; a name in the header ${reason}`;
  if (fault !== undefined) throw new ImportFault(file, header.line, fault + unread);
  const indexes = compiled.columns.map((column) => names.indexOf(column));
  return (row: CsvRow): SourceEntry => {
    const entry = { file, line: row.line, records: [], namedGps: [] };
    const shape = rowFault(file, row, header.cells.length);
    if (shape !== undefined) return { ...entry, faults: [shape] };
    const faults: RecordFault[] = [];
    const cells = indexes.map((index, slot) => {
      const cell = decode(row.cells[index] ?? "");
      if (!(cell instanceof Unreadable)) return cell;
      faults.push({ field: compiled.columns[slot] ?? "", reason: cell.reason });
      return "";
    });
    return { ...entry, ...(faults.length > 0 ? { faults } : compiled.read(cells)) };
  };
}

/**
 * Returns the fault of a row's quotes or number of cells. Returns undefined if there is none.
 * @throws ImportFault if the file is cut off in this row.
 */
function rowFault(file: string, row: CsvRow, columns: number): RecordFault | undefined {
  if (row.quoteFault !== "") return { field: "row", reason: row.quoteFault };
  const count = row.cells.length;
  if (count === columns) return undefined;
  const words = `has ${count} ${count === 1 ? "cell" : "cells"}, but the header has ${columns}`;
  if (count < columns && !row.ended)
    throw new ImportFault(
      file,
      row.line,
      `the last row ${words}; the file may be cut off: get it again, or complete the row`,
    );
  return { field: "row", reason: `${words}; check its delimiters and quotes` };
}

/** Returns the fault of a header if a wanted column is missing or repeated. Returns undefined if there is none. */
function columnsFault(names: readonly string[], wanted: readonly string[]): string | undefined {
  const reasons = wanted.flatMap((column) => {
    const places = names.flatMap((name, at) => (name === column ? [at + 1] : []));
    if (places.length === 0) return [missingWords(column, names)];
    return places.length > 1
      ? [`the header has ${quoted(column)} in columns ${places.join(" and ")}; rename all but one`]
      : [];
  });
  if (reasons.length === 0) return undefined;
  if (names.length === 1)
    reasons.push('the header has only one column; check "delimiter" in the mapping');
  return reasons.join("; ");
}

function missingWords(column: string, names: readonly string[]): string {
  const similar = nearest(column, new Set(names.filter((name) => name !== ""))).map(quoted);
  const words = `the header has no column ${quoted(column)}, which the mapping uses`;
  return similar.length === 0 ? words : `${words} (similar: ${similar.join(", ")})`;
}

export interface CsvRow {
  /** Number of the row's first line, from 1. A quoted cell may span several lines. */
  line: number;
  /** Undecoded cells, with one character for each byte, as `cellDecoder` expects. */
  cells: readonly string[];
  /** Fault of the row's quotes; empty if there is none. */
  quoteFault: string;
  /** True if a line end follows. The last row may have none. */
  ended: boolean;
}

/** A row from the parser: its cells and its whole text, both undecoded. */
interface Parsed {
  record: string[];
  raw: string;
}

const rowBytesMax = 1024 * 1024;
const lineEnd = /\r\n|\r|\n/g;

/**
 * Yields all rows that are not blank, the header first. Reads quotes strictly and line ends leniently (RFC 4180).
 * @throws ImportFault if the file cannot be read, a quote is never closed, or a row is longer than 1 MiB. The
 *   rest of the file cannot be trusted after a faulty row.
 */
export async function* readRows(file: string, mapping: TableFormat): AsyncGenerator<CsvRow, void> {
  const format = formatOf(mapping);
  let line = 1;
  // The parser calls this for each row, even a blank one, so that `line` is right if the next row fails.
  const toRow = ({ record: cells, raw }: Parsed): CsvRow | null => {
    const begin = line;
    line += raw.match(lineEnd)?.length ?? 0;
    if (cells.every((cell) => cell.trim() === "")) return null;
    const quoteFault = cells.some((cell) => cell.includes('"')) ? quoteFaultIn(raw, format) : "";
    return { line: begin, cells, quoteFault, ended: /[\r\n]$/.test(raw) };
  };
  const parser = parse({
    ...format,
    raw: true,
    relax_quotes: true,
    max_record_size: rowBytesMax,
    on_record: (parsed) => toRow(parsed as unknown as Parsed) as unknown as string[] | null,
  });
  pipeline(Readable.from(readBytes(file, mapping.encoding ?? "utf-8")), parser, () => {});
  try {
    yield* parser as AsyncIterable<CsvRow>;
  } catch (error) {
    throw error instanceof CsvError
      ? new ImportFault(shownName(file), line, wordsFor(error))
      : error;
  }
}

type TableFormat = Pick<Mapping, "delimiter" | "encoding" | "quotes">;

function formatOf({ delimiter = ",", quotes = delimiter !== "\t" }: TableFormat): Options {
  return {
    delimiter,
    quote: quotes ? '"' : null,
    // Latin-1 has one character for each byte, so nothing is lost before the cells are decoded.
    encoding: "latin1",
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
  };
}

/**
 * Returns the fault of stray quotes; empty if there is none. The lenient parser has found the end of the row. A strict
 * one now tells stray quotes from doubled ones.
 */
function quoteFaultIn(raw: string, format: Options): string {
  if (format.quote === null) return "";
  try {
    parseText(Buffer.from(raw, "latin1"), format);
    return "";
  } catch {
    return 'has an undoubled quote inside a cell; write it as in "say ""yes"""';
  }
}

function wordsFor(error: CsvError): string {
  if (error.code === "CSV_QUOTE_NOT_CLOSED")
    return "a quote in this row is never closed; the file may be cut off: get it again, or close the quote";
  if (error.code === "CSV_MAX_RECORD_SIZE")
    return `this row is longer than ${rowBytesMax} bytes; look for a quote in it that is never closed`;
  return error.message;
}

const beyondAscii = /[\x80-\xff]/;

/** Returns a decoder for cells in which each character stands for one byte. An invalid byte spoils only its cell. */
export function cellDecoder(encoding: Encoding): (bytes: string) => string | Unreadable {
  const decode = decoderOf(encoding);
  return (bytes) => (beyondAscii.test(bytes) ? decode(Buffer.from(bytes, "latin1")) : bytes);
}
