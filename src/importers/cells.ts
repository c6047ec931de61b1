/** Tidies the text of cells without changing its meaning. */

const untidy = /^\s|\s$|\s\s|[^\S ]/;

/** Text on one line: every run of white space, the non-breaking kind too, becomes one space. */
export function clean(text: string): string {
  return untidy.test(text) ? text.replace(/\s+/g, " ").trim() : text;
}

/** Text that may have paragraphs: its line breaks are kept, as `\n`. */
export function cleanParagraphs(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map(clean)
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** The form in which cells are compared with the words of a mapping: tidy, in lower case. */
export function comparable(text: string): string {
  return clean(text).toLowerCase();
}

/**
 * `GREENWOOD VILLAGE` as `Greenwood Village`; text that already has a lower-case letter stays as it is.
 * Right for places. Wrong for firms, whose capitals are part of the name (`KRG CAPITAL` is not `Krg Capital`).
 */
export function titleCase(text: string): string {
  if (/\p{Ll}/u.test(text)) return text;
  return text
    .toLowerCase()
    .replace(/(^|[^\p{L}\p{M}\p{N}'’])(\p{L})/gu, (_, before: string, letter: string) => {
      return before + letter.toUpperCase();
    });
}
