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

interface GroupHead {
  label: Part;
  /** Words at the right, such as how many rows there are. */
  aside: string;
}

export interface TableContent {
  /** Label for screen readers. */
  label: string;
  columns: readonly (string | Column)[];
  /** Rows with a cell for each column, or heads of the rows below them. */
  rows: readonly (readonly Part[] | GroupHead)[];
}

export function table({ label, columns, rows }: TableContent): Html {
  const heads = columns.map((one): Column => (typeof one === "string" ? { label: one } : one));
  const number = heads.map(({ isNumber }) => isNumber === true && html`class="number"`);
  const attributes = heads.map(({ label: name, isPlain }, i) =>
    isPlain === true ? number[i] : html`data-label="${name}" ${number[i]}`,
  );
  return html`<table aria-label="${label}">
    <thead>
      <tr>
        ${heads.map((head, i) => html`<th scope="col" ${number[i]}>${head.head ?? head.label}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map((row) => ("aside" in row ? groupHead(row, heads.length) : rowOf(row, attributes)))}
    </tbody>
  </table>`;
}

const groupHead = ({ label, aside }: GroupHead, width: number): Html =>
  html`<tr class="group">
    <th scope="rowgroup" colspan="${width - 1}">${label}</th>
    <td class="number">${aside}</td>
  </tr>`;

/** Returns a row. Cells make up most of a long page, so their markup omits a template's line breaks. */
function rowOf([first, ...others]: readonly Part[], attributes: readonly Part[]): Html {
  const cells = others.map((cell, i) => {
    const own = attributes[i + 1];
    return own ? html`<td ${own}>${cell}</td>` : html`<td>${cell}</td>`;
  });
  // oxfmt-ignore
  return html`<tr><th scope="row">${first}</th>${cells}</tr>`;
}

/** Returns a list of terms with their facts. Leaves out terms without a fact. */
export const factList = (facts: readonly (readonly [term: string, what: Part])[]): Html =>
  html`<dl class="facts">
    ${facts
      .filter(([, what]) => html`${what}`.markup !== "")
      .map(
        ([term, what]) =>
          html`<div>
            <dt>${term}</dt>
            <dd>${what}</dd>
          </div>`,
      )}
  </dl>`;
