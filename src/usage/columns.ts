/** Requests and totals as programs read them: members of JSON objects and columns of CSV. */
import type { LoggedRequest } from "./request-log.ts";
import { statusClasses } from "./status-class.ts";
import type { Totals } from "./totals.ts";

export interface Column<Row> {
  name: string;
  of(row: Row): Cell;
}

/** Without its account, whose number means nothing outside. */
export const requestColumns: readonly Column<LoggedRequest>[] = [
  { name: "at", of: (request) => request.at },
  { name: "request_id", of: (request) => request.requestId },
  { name: "key", of: (request) => request.key },
  { name: "operation", of: (request) => request.operation },
  { name: "status", of: (request) => request.status },
  { name: "ms", of: (request) => request.milliseconds },
  { name: "bytes", of: (request) => request.bytes },
  { name: "dataset", of: (request) => request.dataset },
  { name: "problem", of: (request) => request.problem },
  { name: "query", of: (request) => request.query },
];

export const totalsColumns: readonly Column<Totals>[] = [
  { name: "requests", of: (totals) => totals.requests },
  ...statusClasses.map((name) => ({
    name: `status_${name}`,
    of: (totals: Totals) => totals.byClass[name],
  })),
  { name: "status_429", of: (totals) => totals.overQuota },
  { name: "bytes", of: (totals) => totals.bytes },
  { name: "ms", of: (totals) => Math.round(totals.milliseconds * 100) / 100 },
];

export const csvHeading = <Row>(columns: readonly Column<Row>[]): string =>
  csvLine(columns.map(({ name }) => name));

export const csvRow = <Row>(columns: readonly Column<Row>[], row: Row): string =>
  csvLine(columns.map((column) => column.of(row)));

export const jsonRow = <Row>(columns: readonly Column<Row>[], row: Row): Record<string, Cell> =>
  Object.fromEntries(columns.map((column) => [column.name, column.of(row)]));

type Cell = string | number | null;

// A spreadsheet would run what begins with one of these: https://owasp.org/www-community/attacks/CSV_Injection
const formulaStart = /^[=+\-@\t\r]/;
const mustBeQuoted = /[",\r\n]/;

/** One line of CSV (RFC 4180), without its end. Text is escaped so that a spreadsheet never takes it for a formula. */
export const csvLine = (cells: readonly Cell[]): string => cells.map(csvCell).join(",");

function csvCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const harmless = formulaStart.test(cell) ? `'${cell}` : cell;
  return mustBeQuoted.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
