/** Writes rows as CSV (RFC 4180) that is also safe to open in a spreadsheet, or as JSON. */

/** Content of a cell. Null is empty, and a list becomes one text. */
export type Cell = string | number | null | readonly string[];

/** A column of a table, made from rows of any type. */
export interface Column<Row> {
  name: string;
  of(row: Row): Cell;
}

/** End of each line. */
export const lineEnd = "\r\n";

/** Returns a heading and all rows, each with its end. */
export const csvTable = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string =>
  [csvHeading(columns), ...rows.map((row) => csvRow(columns, row))].join(lineEnd) + lineEnd;

/**
 * Mark that a file is UTF-8. Without it Excel assumes the code page of the machine. It belongs in files that people
 * download, not in those that programs read.
 */
export const byteOrderMark = "\uFEFF";

/** Returns the names of the columns, without the end of the line. */
export const csvHeading = <Row>(columns: readonly Column<Row>[]): string =>
  csvLine(columns.map(({ name }) => name));

/** Returns one row, without the end of the line. */
export const csvRow = <Row>(columns: readonly Column<Row>[], row: Row): string =>
  csvLine(columns.map((column) => column.of(row)));

const csvLine = (cells: readonly Cell[]): string => cells.map(csvCell).join(",");

/** Returns one row as the members of a JSON object. */
export const jsonRow = <Row>(columns: readonly Column<Row>[], row: Row): Record<string, Cell> =>
  Object.fromEntries(columns.map((column) => [column.name, column.of(row)]));

/**
 * Reports whether a spreadsheet might run a text, or a part of it. A program that splits cells at semicolons or tabs, such
 * as Excel in Europe, ignores our quotes. A part or a line of a text then becomes a cell. Some programs skip leading spaces.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
export const looksLikeFormula = (text: string): boolean =>
  formulaStart.test(text) || text.search(beforeFormula) >= 0;

/** Signs that begin a formula, and signs that look alike: Excel in Japanese and Numbers accept full-width ones. */
const signs = "=+\\-@⁺⁻⁼₊₋₌−﬩﹢﹣﹦﹫＋－＝＠";
const formulaStart = new RegExp(`^\\s*?[\\t\\r${signs}]`);
/** Pattern of a place inside a text where a formula may begin. */
const beforeFormula = new RegExp(`[;\\t\\r\\n](?:[^\\S\\t\\r\\n]|")*(?=[${signs}])`, "g");
const mustBeQuoted = /[",\r\n]/;

/**
 * Writes a cell. A number stays a number, even a negative one. Text gets an apostrophe wherever a spreadsheet would take it,
 * or a part of it, for a formula.
 */
function csvCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = typeof cell === "string" ? cell : cell.join("; ");
  const harmless = looksLikeFormula(text) ? `'${text.replace(beforeFormula, "$&'")}` : text;
  return mustBeQuoted.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
