/** Tables of records, which often lack a member: a column nobody fills is left out. */
import { html, type Part } from "#pages/html.ts";
import type { TableContent } from "#pages/table.ts";

const isEmpty = (cell: Part): boolean => html`${cell}`.markup === "";

export function filledColumns({ label, columns, rows }: TableContent): TableContent {
  const isFilled = columns.map((_, i) => rows.some((row) => !isEmpty(row[i])));
  return {
    label,
    columns: columns.filter((_, i) => isFilled[i]),
    rows: rows.map((row) => row.filter((_, i) => isFilled[i])),
  };
}
