/** The tables of all pages. The head is sticky, the first cell names its row, and on a phone rows fold into lines. */
import { html, type Html, type Part } from "./html.ts";

export interface Column {
  label: string;
  /** Head of the column; by default the label. */
  head?: Part;
  /** True for numbers, which are aligned to the right. */
  isNumber?: boolean;
  /** True if cells need no label when the row is folded. */
  isPlain?: boolean;
}

export interface TableContent {
  /** Label for screen readers. */
  label: string;
  columns: readonly (string | Column)[];
  /** Rows with a cell for each column. */
  rows: readonly (readonly Part[])[];
}

export function table({ label, columns, rows }: TableContent): Html {
  const heads = columns.map((column) => (typeof column === "string" ? { label: column } : column));
  const attributes = heads.map(attributesOf);
  return html`<table aria-label="${label}">
    <thead>
      <tr>
        ${heads.map((head) => html`<th scope="col" ${numberClass(head)}>${head.head ?? head.label}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map((row) => rowOf(row, attributes))}
    </tbody>
  </table>`;
}

const numberClass = ({ isNumber }: Column): Part => isNumber === true && html`class="number"`;

const attributesOf = (head: Column): Html | null => {
  if (head.isPlain === true) return head.isNumber === true ? html`class="number"` : null;
  return html`data-label="${head.label}" ${numberClass(head)}`;
};

/** Returns a row. Cells make up most of a long page, so their markup omits a template's line breaks. */
function rowOf([first, ...others]: readonly Part[], attributes: readonly (Html | null)[]): Html {
  const cells = [
    html`<th scope="row">${first}</th>`,
    ...others.map((cell, i) => cellOf(cell, attributes[i + 1]!)),
  ];
  // oxfmt-ignore
  return html`<tr>${cells}</tr>`;
}

const cellOf = (cell: Part, attributes: Html | null): Html =>
  attributes === null ? html`<td>${cell}</td>` : html`<td ${attributes}>${cell}</td>`;

/** Returns a list of terms with their facts. Leaves out terms without a fact. */
export const factList = (facts: readonly (readonly [term: string, what: Part])[]): Html =>
  html`<dl class="facts">
    ${facts.map(
      ([term, what]) =>
        isSaid(what) &&
        html`<div>
          <dt>${term}</dt>
          <dd>${what}</dd>
        </div>`,
    )}
  </dl>`;

const isSaid = (what: Part): boolean =>
  what !== null && what !== undefined && what !== false && what !== "";
