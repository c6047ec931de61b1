/** Cuts a CSV file into rows with their line numbers; strict about quotes, lenient about line ends (RFC 4180). */
import { pipeline, Readable } from "node:stream";
import { CsvError, parse, type Options } from "csv-parse";
import { parse as parseText } from "csv-parse/sync";
import { ImportFault } from "./import-fault.ts";
import type { Mapping } from "./mapping.ts";
import { readBytes } from "./source-bytes.ts";
import { shownName } from "./source-file.ts";

export interface CsvRow {
  /** On which the row begins, from 1; a quoted cell may span several. */
  line: number;
  /** One character for each byte, see decode-cell.ts. */
  cells: readonly string[];
  /** Why its quotes make no sense; empty where they do. */
  quoteFault: string;
  /** False for a last row without a line end. */
  ended: boolean;
}

/** What the parser makes of a row: its cells and its bytes. */
interface Parsed {
  record: string[];
  raw: string;
}

const rowBytesMax = 1024 * 1024;
const lineEnd = /\r\n|\r|\n/g;

/**
 * All rows with anything in them, the header first.
 * @throws ImportFault where a quote is never closed or a row is longer than 1 MiB: nothing after it could be trusted.
 */
export async function* readRows(file: string, mapping: Mapping): AsyncGenerator<CsvRow, void> {
  const format = formatOf(mapping);
  let line = 1;
  // Called while the parser is at the row, so that `line` is right when the next one fails.
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

function formatOf({ delimiter = ",", quotes = delimiter !== "\t" }: Mapping): Options {
  return {
    delimiter,
    quote: quotes ? '"' : null,
    // One character a byte: nothing is lost before each cell is decoded on its own.
    encoding: "latin1",
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
  };
}

/** The lenient reading finds where a row with odd quotes ends; the strict one tells odd quotes from doubled ones. */
function quoteFaultIn(raw: string, format: Options): string {
  if (format.quote === null) return "";
  try {
    parseText(Buffer.from(raw, "latin1"), format);
    return "";
  } catch {
    return 'has a quote inside a cell that is not written as in "say ""yes"""';
  }
}

function wordsFor(error: CsvError): string {
  if (error.code === "CSV_QUOTE_NOT_CLOSED")
    return "a quote of this row is never closed; the file may be cut off";
  if (error.code === "CSV_MAX_RECORD_SIZE")
    return `this row is longer than ${rowBytesMax} bytes; is a quote never closed?`;
  return error.message;
}
