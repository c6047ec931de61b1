/** Tidies the text of cells without changing its meaning, and reads templates that combine cells. */

const untidy = /^\s|\s$|\s\s|[^\S ]/;

/** Returns text on one line, without white space at its ends. Any other run of white space becomes one space. */
export function clean(text: string): string {
  return untidy.test(text) ? text.replace(/\s+/g, " ").trim() : text;
}

/** Tidies text that may have paragraphs. Keeps line breaks as `\n`, with at most one blank line between paragraphs. */
export function cleanParagraphs(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map(clean)
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** Returns the form in which cells are compared with the words of a mapping: tidy, in lower case. */
export function comparable(text: string): string {
  return clean(text).toLowerCase();
}

/**
 * Returns `GREENWOOD VILLAGE` as `Greenwood Village`. Text in both cases stays as it is. This suits places but not firms,
 * because capitals may be part of a firm's name: `KRG CAPITAL` is not `Krg Capital`.
 */
export function titleCase(text: string): string {
  const starts =
    /(?<![\p{L}\p{M}\p{N}'’]|(?<= )(?=(?:of|the)\b))\p{L}|(?<=\b(?:mc|\p{L}['’]))\p{L}/gu;
  const isMixed = /\p{Ll}/u.test(text) && /\p{Lu}/u.test(text);
  return isMixed ? text : text.toLowerCase().replace(starts, (letter) => letter.toUpperCase());
}

/** A column in a template such as `{First Name} {Middle Name?} {Last Name}`. */
interface Placeholder {
  column: string;
  /** True if the column is marked with `?`. The whole text is missing if an unmarked column has a missing cell. */
  optional: boolean;
}

const placeholder = /\{([^{}]+)\}/;

/** Returns the parts of a template in order. Returns undefined if it has no placeholder, or a brace outside of one. */
export function parseTemplate(text: string): (string | Placeholder)[] | undefined {
  const parts = text
    .split(placeholder)
    .map((part, at) => (at % 2 === 0 ? part : toPlaceholder(part)));
  const sound =
    parts.length > 1 && !parts.some((part) => typeof part === "string" && /[{}]/.test(part));
  return sound ? parts.filter((part) => part !== "") : undefined;
}

function toPlaceholder(written: string): Placeholder {
  const optional = written.endsWith("?");
  return { column: clean(optional ? written.slice(0, -1) : written), optional };
}
