/** HTML templates: every value is escaped as text unless it is itself made by a template. */

/** Markup made by a template: its values are escaped already. */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
}

/** The values a template takes; null, undefined and false become empty. */
export type Part = Html | string | number | null | undefined | false | readonly Part[];

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

/** Safe between tags and in quoted attributes, not in unquoted ones. */
const escapeText = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character]!);

/** Templates without their indentation, which would be a tenth of a page. */
const unindented = new WeakMap<TemplateStringsArray, readonly string[]>();

/** For text between tags that has many quotes, which need no escaping there. Never for an attribute. */
export const bodyText = (text: string): Html =>
  new Html(text.replace(/[&<>]/g, (character) => entities[character]!));

/** The template tag: <code>html`<p>${text}</p>`</code>. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let texts = unindented.get(strings);
  if (texts === undefined) {
    texts = strings.map((text) => text.replace(/\n\s*/g, "\n"));
    unindented.set(strings, texts);
  }
  let markup = texts[0]!;
  parts.forEach((part, i) => {
    markup += markupOf(part) + texts[i + 1]!;
  });
  return new Html(markup);
}

function markupOf(part: Part): string {
  if (part instanceof Html) return part.markup;
  if (part === null || part === undefined || part === false) return "";
  if (typeof part === "object") return part.map(markupOf).join("");
  return escapeText(String(part));
}
