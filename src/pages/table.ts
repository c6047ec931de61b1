/** The one kind of table: sticky head, first cell names the row, on a phone each row folds into a term and its lines. */
import { html, type Html, type Part } from "./html.ts";

export interface Column {
  label: string;
  /** Numbers stand at the right. */
  isNumber?: boolean;
  /** Needs no label where the row is folded: the cells say themselves what they are. */
  isPlain?: boolean;
}

export interface TableContent {
  /** Read out before the table; the heading above it says the same to the eye. */
  label: string;
  columns: readonly (string | Column)[];
  /** A cell for each column. */
  rows: readonly (readonly Part[])[];
}

export function table({ label, columns, rows }: TableContent): Html {
  const heads = columns.map((column) => (typeof column === "string" ? { label: column } : column));
  const attributes = heads.map(attributesOf);
  return html`<table aria-label="${label}">
    <thead>
      <tr>
        ${heads.map((head) => html`<th scope="col" ${numberClass(head)}>${head.label}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map((row) => rowOf(row, attributes))}
    </tbody>
  </table>`;
}

const numberClass = ({ isNumber }: Column): Part => isNumber === true && html`class="number"`;

const attributesOf = (head: Column): Html | null =>
  head.isPlain === true ? null : html`data-label="${head.label}" ${numberClass(head)}`;

/** Cells are most of a long page, so none has a character too many. */
function rowOf([first, ...others]: readonly Part[], attributes: readonly (Html | null)[]): Html {
  const cells = others.map((cell, i) => cellOf(cell, attributes[i + 1]!));
  return html`<tr>
    <th scope="row">${first}</th>
    ${cells}
  </tr>`;
}

const cellOf = (cell: Part, attributes: Html | null): Html =>
  attributes === null ? html`<td>${cell}</td>` : html`<td ${attributes}>${cell}</td>`;
