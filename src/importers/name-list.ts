/** Reads a list of names to match: CSV with a header, or one name a line. */
import { isUtf8 } from "node:buffer";
import { CsvError, parse } from "csv-parse/sync";
import { fold } from "#records/fold.ts";
import type { WantedGp } from "#search/match-list.ts";
import { decoderOf } from "./encoding.ts";
import { ImportFault, quoted, Unreadable } from "./import-fault.ts";
import { markLength } from "./source-file.ts";

const columns = ["name", "city", "state", "crd", "cik"] as const;
const delimiters = [",", ";", "\t"];
const lineEnd = /\r\n|\r|\n/;
const cellLengthMax = 500;

/**
 * Returns the GPs that a list asks for. Skips blank lines. The list is CSV with commas, semicolons or tabs if a cell of
 * its first line is `name`. It may also have the columns `city`, `state`, `crd` and `cik`; others are ignored. In any
 * other list, each line is a name. A list that is not valid UTF-8 is read as windows-1252.
 * @param file name of the list in messages.
 * @param max maximum number of names.
 * @throws ImportFault if the list is empty, too long or not text, or a line is faulty.
 */
export function readNameList(bytes: Buffer, file: string, max: number): WantedGp[] {
  const body = bytes.subarray(markLength(file, bytes, "utf-8"));
  const text = decoderOf(isUtf8(body) ? "utf-8" : "windows-1252")(body);
  if (text instanceof Unreadable || text.includes("\0"))
    throw new ImportFault(file, null, "is not text; save the list as CSV in UTF-8");
  const wanted = readLines(file, text, max).map(({ line, cells }): WantedGp => {
    if (cells.some(({ length }) => length > cellLengthMax))
      throw new ImportFault(
        file,
        line,
        `has a cell of more than ${cellLengthMax} characters; shorten it`,
      );
    const [name = "", city, state, crd, cik] = cells;
    if (name === "" && !crd && !cik)
      throw new ImportFault(file, line, "has no name, CRD or CIK; add one, or delete the line");
    return { name, city, state, crd, cik };
  });
  if (wanted.length === 0)
    throw new ImportFault(file, null, "contains no names; put one on each line");
  return wanted;
}

interface Line {
  /** Number of the line, counted from 1. */
  line: number;
  /** Values of `columns`, or only a name if the list has no header. */
  cells: string[];
}

/** Returns the lines that are neither blank nor the header. Stops at the first line that is one too many. */
function readLines(file: string, text: string, max: number): Line[] {
  const lines: Line[] = [];
  const add = (line: number, cells: string[]) => {
    if (lines.length === max) {
      const fault = `a list may have at most ${max} names; split it before this line`;
      throw new ImportFault(file, line, fault);
    }
    lines.push({ line, cells });
  };
  const all = text.split(lineEnd);
  const namesBy = (delimiter: string) => all[0]!.split(delimiter).map(fold);
  const delimiter = delimiters.find((one) => namesBy(one).includes("name"));
  if (delimiter === undefined) {
    for (const [i, name] of all.entries()) if (name.trim() !== "") add(i + 1, [name.trim()]);
    return lines;
  }
  let line = 1;
  let indexes: number[] | undefined;
  // The parser calls this for each row, even a blank one, so that `line` is right if the next row fails.
  const read = ({ record, raw }: { record: string[]; raw: string }) => {
    const begin = line;
    line += raw.split(lineEnd).length - 1;
    if (indexes === undefined) {
      const names = record.map(fold);
      const twice = columns.find((one) => names.indexOf(one) !== names.lastIndexOf(one));
      if (twice !== undefined)
        throw new ImportFault(file, begin, `has the column ${quoted(twice)} twice; rename one`);
      indexes = columns.map((one) => names.indexOf(one));
    } else if (record.some((cell) => cell.trim() !== ""))
      add(
        begin,
        indexes.map((index) => record[index]?.trim() ?? ""),
      );
    return null;
  };
  try {
    parse(text, {
      delimiter,
      relax_column_count: true,
      record_delimiter: ["\r\n", "\n", "\r"],
      raw: true,
      on_record: (parsed) => read(parsed as unknown as Parameters<typeof read>[0]),
    });
    return lines;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new ImportFault(
      file,
      line,
      error.code === "CSV_QUOTE_NOT_CLOSED"
        ? "has a quote that is never closed; close it"
        : "has an undoubled quote inside a cell; double it",
    );
  }
}
