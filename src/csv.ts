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
 * Reports whether a spreadsheet might run it, or a part of it: one that cuts cells at semicolons or tabs, as Excel does in
 * Europe, does not heed our quotes, so that a part or a line of a text becomes a cell. Some skip spaces before they look.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
export const looksLikeFormula = (text: string): boolean =>
  formulaStart.test(text) || text.search(beforeFormula) >= 0;

/** What begins a formula, with the signs that look alike: Excel in Japanese and Numbers take full-width ones. */
const signs = "=+\\-@⁺⁻⁼₊₋₌−﬩﹢﹣﹦﹫＋－＝＠";
const formulaStart = new RegExp(`^\\s*?[\\t\\r${signs}]`);
/** Ends where a formula may begin, inside of a text. */
const beforeFormula = new RegExp(`[;\\t\\r\\n](?:[^\\S\\t\\r\\n]|")*(?=[${signs}])`, "g");
const mustBeQuoted = /[",\r\n]/;

/** A number stays a number, also a negative one; text gets an apostrophe where a spreadsheet would take it, or a part of it, for a formula. */
function csvCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = typeof cell === "string" ? cell : cell.join("; ");
  const harmless = looksLikeFormula(text) ? `'${text.replace(beforeFormula, "$&'")}` : text;
  return mustBeQuoted.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
