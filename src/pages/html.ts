/** HTML templates, which escape every value as text unless it is an `Html`, and tables made from them. */

/** Markup whose values are escaped already. */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
}

/** Values that a template takes; null, undefined and false become empty. */
export type Part = Html | string | number | null | undefined | false | readonly Part[];

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

/** Escapes text of HTML or XML for use between tags and in quoted attributes, not in unquoted ones. */
export const escapeText = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character]!);

/** Characters that can change the direction of text around them: right-to-left letters and control characters. */
const bidirectional =
  /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** Pattern of markup that ends in an attribute, or in an element that shows only text. No `bdi` may begin there. */
const textAlone = /="[^"]*$|<(?:title|text|textarea|option|script|style)\b[^>]*>[^<]*$/;

/** Each template's strings without indentation, which would be a tenth of a page. */
const unindented = new WeakMap<TemplateStringsArray, readonly string[]>();

/** Escapes text for use between tags. Leaves quotes unescaped, so never use it in an attribute. */
export const bodyText = (text: string): Html =>
  new Html(text.replace(/[&<>]/g, (character) => entities[character]!));

/** Returns the markup of a tagged template, such as <code>html`<p>${text}</p>`</code>. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const texts = unindented.getOrInsertComputed(strings, () =>
    strings.map((text) => text.replace(/\n\s*/g, "\n")),
  );
  let markup = texts[0]!;
  parts.forEach((part, i) => {
    markup += markupOf(part, markup) + texts[i + 1]!;
  });
  return new Html(markup);
}

/** Returns a part's markup. @param before the template's markup so far. */
function markupOf(part: Part, before: string): string {
  if (part instanceof Html) return part.markup;
  if (part === null || part === undefined || part === false) return "";
  if (typeof part === "object") return part.map((one) => markupOf(one, before)).join("");
  const text = String(part);
  if (!bidirectional.test(text) || textAlone.test(before)) return escapeText(text);
  // An isolate in the text could end the `bdi`, which shields the surrounding text from the direction of this text.
  return `<bdi>${escapeText(text.replace(/[\u2066-\u2069]/g, ""))}</bdi>`;
}

export interface Column {
  label: string;
  /** Head of the column; by default the label. */
  head?: Part;
  /** True for numbers, which are aligned to the right. */
  isNumber?: boolean;
  /** True if cells need no label when the row is folded. */
  isPlain?: boolean;
  /** True if only a wide screen has room for the column. */
  isWide?: boolean;
}

interface GroupHead {
  label: Part;
  /** Words at the right, such as the number of rows. */
  aside: string;
}

export interface TableContent {
  /** Label for screen readers. */
  label: string;
  columns: readonly (string | Column)[];
  /** Rows with a cell for each column, or heads of the rows below them. */
  rows: readonly (readonly Part[] | GroupHead)[];
}

/** Returns a table. Its head is sticky, the first cell names its row, and on a phone rows fold into lines. */
export function table({ label, columns, rows }: TableContent): Html {
  const heads = columns.map((one): Column => (typeof one === "string" ? { label: one } : one));
  const classes = heads.map(({ isNumber = false, isWide = false }) => {
    if (!isNumber && !isWide) return null;
    return html`class="${isNumber && "number"}${isNumber && isWide && " "}${isWide && "wide"}"`;
  });
  const attributes = heads.map(({ label: name, isPlain }, i) =>
    isPlain === true ? classes[i] : html`data-label="${name}" ${classes[i]}`,
  );
  return html`<table aria-label="${label}">
    <thead>
      <tr>
        ${heads.map((head, i) => html`<th scope="col" ${classes[i]}>${head.head ?? head.label}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map((row) => ("aside" in row ? groupHead(row, heads.length) : rowOf(row, attributes)))}
    </tbody>
  </table>`;
}

const groupHead = ({ label, aside }: GroupHead, width: number): Html =>
  html`<tr class="group">
    <th scope="rowgroup" colspan="${width}">${label} <span>${aside}</span></th>
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
