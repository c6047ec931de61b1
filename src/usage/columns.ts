/** Requests and totals for programs to read: members of JSON objects and columns of CSV. */
import type { Cell, Column } from "#csv.ts";
import type { LoggedRequest } from "./request-log.ts";
import { statusClasses, type Totals } from "./totals.ts";

/** Columns of a request. Its account is left out, because the number means nothing outside. */
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

export const jsonRow = <Row>(columns: readonly Column<Row>[], row: Row): Record<string, Cell> =>
  Object.fromEntries(columns.map((column) => [column.name, column.of(row)]));
