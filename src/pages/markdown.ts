/** A public page as Markdown, for programs that read text: made from its HTML, so that both say the same. */

interface Element {
  name: string;
  attributes: string;
  children: (Element | string)[];
}

/**
 * What stands in `main`, without what only a browser can use: forms, buttons, the list of contents.
 * @param page as `layout` makes it.
 */
export function markdownOf(page: string): string {
  const main = page.slice(page.indexOf("<main"), page.indexOf("</main>"));
  return `${blocksOf(treeOf(main)).join("\n\n")}\n`;
}

/** The addresses of pages that are there as Markdown, too. */
const twins = /^\/(?:docs(?:\/[a-z]+)?|errors(?:\/[a-z-]+)?|changelog)(?=#|$)/;

/** Elements without an end. */
const empty = new Set(["br", "img", "input", "wbr"]);

/** Our own templates close whatever they open, so no rule of HTML for what is left open is needed. */
function treeOf(markup: string): Element {
  const root: Element = { name: "main", attributes: "", children: [] };
  const open = [root];
  for (const [, end, name = "", attributes = "", text] of markup.matchAll(
    /<(\/?)([a-z][a-z0-9]*)((?:[^>"]|"[^"]*")*)>|([^<]+)/g,
  )) {
    const parent = open.at(-1)!;
    if (text !== undefined) parent.children.push(text);
    else if (end === "/") open.pop();
    else {
      const element = { name, attributes, children: [] };
      parent.children.push(element);
      if (!empty.has(name)) open.push(element);
    }
  }
  return root.children.find((child) => typeof child !== "string") ?? root;
}

const skipped = new Set(["button", "nav", "noscript", "fieldset", "script"]);
const inline = new Set([
  "a",
  "abbr",
  "b",
  "bdi",
  "br",
  "code",
  "em",
  "span",
  "strong",
  "time",
  "wbr",
]);

/** Paragraphs, headings, lists, tables and blocks of code, to be separated by blank lines. */
function blocksOf({ children }: Element): string[] {
  const blocks: string[] = [];
  let words: (Element | string)[] = [];
  const endParagraph = () => {
    const text = textOf(words);
    if (text !== "") blocks.push(text);
    words = [];
  };
  for (const child of children) {
    if (typeof child === "string" || inline.has(child.name)) words.push(child);
    else {
      endParagraph();
      if (!skipped.has(child.name) && !/ hidden\b/.test(child.attributes))
        blocks.push(...blockOf(child));
    }
  }
  endParagraph();
  return blocks;
}

function blockOf(element: Element): string[] {
  const { name, children } = element;
  const [, level] = /^h([1-6])$/.exec(name) ?? [];
  if (level !== undefined) return [`${"#".repeat(Number(level))} ${textOf(children)}`];
  switch (name) {
    case "p":
      return [textOf(children)].filter((text) => text !== "");
    case "summary":
      return [`**${textOf(children)}**`];
    case "pre":
      return [`\`\`\`\n${plainText(element)}\n\`\`\``];
    case "ul":
    case "ol":
      return [elementsOf(element).map(listItem).join("\n")];
    case "dl":
      return [descendants(element, "dt").map(definition).join("\n")];
    case "table":
      return [tableOf(element)];
    case "form":
      // What can be copied from it; its heading is for those who fill it in.
      return blocksOf({ ...element, children: children.filter(isNoHeading) });
    default:
      return blocksOf(element);
  }
}

const listItem = (item: Element): string =>
  `- ${blocksOf(item).join("\n\n").replaceAll("\n\n", "\n").replaceAll("\n", "\n  ")}`;

const definition = ({ element, parent }: Found): string => {
  const siblings = elementsOf(parent);
  const meaning = siblings[siblings.indexOf(element) + 1];
  const term = textOf(element.children).replace(/[^?]$/, "$&:");
  return `- ${term} ${meaning === undefined ? "" : textOf(meaning.children)}`;
};

const isNoHeading = (child: Element | string) =>
  typeof child === "string" || !/^h[1-6]$/.test(child.name);

function tableOf(table: Element): string {
  const rows = descendants(table, "tr").map(({ element }) =>
    elementsOf(element).map((cell) => blocksOf(cell).join(" ").replaceAll("|", "\\|")),
  );
  const [head = [], ...others] = rows;
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...others.map(line)].join("\n");
}

/** Running text: white space is one space, code and links are marked. */
function textOf(children: readonly (Element | string)[]): string {
  return children.map(inlineText).join("").replaceAll(/\s+/g, " ").trim();
}

function inlineText(child: Element | string): string {
  if (typeof child === "string") return unescaped(child).replaceAll(/[*[\]<]/g, String.raw`\$&`);
  const { name, attributes, children } = child;
  if (skipped.has(name)) return "";
  const text = children.map(inlineText).join("");
  switch (name) {
    case "code":
      return `\`${plainText(child)}\``;
    case "br":
      return " ";
    case "b":
    case "strong":
      return `**${text}**`;
    case "a": {
      const href = unescaped(/ href="([^"]*)"/.exec(attributes)?.[1] ?? "");
      return `[${text.trim()}](${href.replace(twins, "$&.md")})`;
    }
    default:
      return text;
  }
}

const plainText = ({ children }: Element): string =>
  children
    .map((child) => (typeof child === "string" ? unescaped(child) : plainText(child)))
    .join("");

const characters: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&#34;": '"',
  "&#39;": "'",
};

const unescaped = (text: string): string =>
  text.replaceAll(/&(?:amp|lt|gt|#34|#39);/g, (entity) => characters[entity]!);

const elementsOf = ({ children }: Element): Element[] =>
  children.filter((child) => typeof child !== "string");

interface Found {
  element: Element;
  parent: Element;
}

const descendants = (parent: Element, name: string): Found[] =>
  elementsOf(parent).flatMap((element) =>
    element.name === name ? [{ element, parent }] : descendants(element, name),
  );
