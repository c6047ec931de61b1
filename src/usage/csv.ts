/** Tables as CSV (RFC 4180) that a spreadsheet takes for text, whoever wrote what stands in them. */

export type Cell = string | number | null;

// A spreadsheet would run what begins with one of these: https://owasp.org/www-community/attacks/CSV_Injection
const formulaStart = /^[=+\-@\t\r]/;
const mustBeQuoted = /[",\r\n]/;

/** One line, without its end. What a person can have chosen must be text, or it is not made harmless. */
export const csvLine = (cells: readonly Cell[]): string => cells.map(csvCell).join(",");

function csvCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const harmless = formulaStart.test(cell) ? `'${cell}` : cell;
  return mustBeQuoted.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
