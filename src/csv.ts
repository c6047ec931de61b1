/** Turns rows into JSON objects, or into CSV (RFC 4180) that is also safe to open in a spreadsheet. */

/** Content of a cell. In CSV, null becomes an empty cell, and a list becomes one string. */
export type Cell = string | number | null | readonly string[];

export interface Column<Row> {
  name: string;
  of(row: Row): Cell;
}

export const csvTable = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string =>
  csvHeading(columns) + rows.map((row) => csvRow(columns, row)).join("");

/**
 * Byte order mark, by which Excel recognises UTF-8; otherwise it assumes the machine's code page. Files that people
 * download begin with the mark; files for programs do not.
 */
export const byteOrderMark = "\uFEFF";

export const csvHeading = <Row>(columns: readonly Column<Row>[]): string =>
  csvLine(columns.map(({ name }) => name));

export const csvRow = <Row>(columns: readonly Column<Row>[], row: Row): string =>
  csvLine(columns.map((column) => column.of(row)));

/** Returns a line with the ending that RFC 4180 requires. */
const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(",")}\r\n`;

export const jsonRow = <Row>(columns: readonly Column<Row>[], row: Row): Record<string, Cell> =>
  Object.fromEntries(columns.map((column) => [column.name, column.of(row)]));

/**
 * Reports whether a spreadsheet might run text, or a part of it, as a formula. Programs that split cells at semicolons
 * or tabs, such as Excel in Europe, ignore our quotes. Each part or line of the text then becomes a cell of its own.
 * Some programs skip leading spaces.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
export const looksLikeFormula = (text: string): boolean =>
  formulaStart.test(text) || text.search(beforeFormula) >= 0;

/** Characters that begin a formula, and their look-alikes. Japanese Excel and Numbers accept full-width ones. */
const signs = "=+\\-@⁺⁻⁼₊₋₌−﬩﹢﹣﹦﹫＋－＝＠";
const formulaStart = new RegExp(`^\\s*?[\\t\\r${signs}]`);
/** Pattern for places inside text where a formula may begin. */
const beforeFormula = new RegExp(`[;\\t\\r\\n](?:[^\\S\\t\\r\\n]|")*(?=[${signs}])`, "g");
const mustBeQuoted = /[",\r\n]/;

/**
 * Returns a cell as CSV. A number stays as it is, even if it is negative. Text for which `looksLikeFormula` returns
 * true gets an apostrophe at its beginning, and another at each later place where a formula may begin.
 */
function csvCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = typeof cell === "string" ? cell : cell.join("; ");
  const harmless = looksLikeFormula(text) ? `'${text.replace(beforeFormula, "$&'")}` : text;
  return mustBeQuoted.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
