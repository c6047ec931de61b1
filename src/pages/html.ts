/** HTML from templates: what is put in is text and escaped, unless a template made it. */

/** Markup that a template made, so its parts are escaped already. */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
}

/** What a template takes; nothing stands for what is absent. */
export type Part = Html | string | number | null | undefined | false | readonly Part[];

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

/** Text as it may stand between tags and in a quoted attribute; unquoted attributes are not safe. */
const escapeText = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character]!);

/** Templates with their indentation taken off, which is a tenth of a page. */
const unindented = new WeakMap<TemplateStringsArray, readonly string[]>();

/** Text of an element with many quotes, which need no escaping there. Never for an attribute. */
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
