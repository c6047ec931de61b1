/** CSV (RFC 4180) that is also safe to open in a spreadsheet. */

/** What a cell holds: null is empty, and a list becomes one text. */
export type Cell = string | number | null | readonly string[];

/** One column of a table, by whatever it is written. */
export interface Column<Row> {
  name: string;
  of(row: Row): Cell;
}

/** Ends each line. */
export const lineEnd = "\r\n";

/** A heading and all rows, each with its end. */
export const csvTable = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string =>
  [csvHeading(columns), ...rows.map((row) => csvRow(columns, row))].join(lineEnd) + lineEnd;

/** Without it Excel takes a file for the code page of the machine: it belongs before what people download, not before what programs read. */
export const byteOrderMark = "\uFEFF";

/** The names of the columns, without the end of the line. */
export const csvHeading = <Row>(columns: readonly Column<Row>[]): string =>
  csvLine(columns.map(({ name }) => name));

/** One row, without the end of the line. */
export const csvRow = <Row>(columns: readonly Column<Row>[], row: Row): string =>
  csvLine(columns.map((column) => column.of(row)));

const csvLine = (cells: readonly Cell[]): string => cells.map(csvCell).join(",");

/**
 * Would a spreadsheet run it? Some do so where the sign is a full-width one: Excel in Japanese, Numbers.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
export const looksLikeFormula = (text: string): boolean => formulaStart.test(text);

const formulaStart = /^[=+\-@\t\r＝＋－＠]/;
const mustBeQuoted = /[",\r\n]/;

/** A number stays a number, also a negative one; text gets an apostrophe where a spreadsheet would take it for a formula. */
function csvCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = typeof cell === "string" ? cell : cell.join("; ");
  const harmless = looksLikeFormula(text) ? `'${text}` : text;
  return mustBeQuoted.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
