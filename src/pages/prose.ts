/** Plain sentences as HTML: names between backticks become code. */
import { html, type Html } from "./html.ts";

/** @param text may be anyone's; only its backticks mean something. */
export function prose(text: string): Html {
  const pieces = text.split("`");
  // A backtick without a partner is a character like any other.
  if (pieces.length % 2 === 0) return html`${text}`;
  return html`${pieces.map((piece, i) => (i % 2 === 1 ? html`<code>${piece}</code>` : piece))}`;
}

/** Names as code, with commas between. */
export const codes = (names: readonly string[]): Html =>
  html`${names.map((name, i) => [i > 0 && ", ", html`<code>${name}</code>`])}`;

/** A whole number with separators: `12,345`. */
export const grouped = (number: number): string => number.toLocaleString("en-US");

/** Such as `1 key` or `12,345 keys`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`;

/** `tag, theme and market`. */
export const wordList = (words: readonly string[], last: "and" | "or"): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;

/** The same with each between backticks. */
export const codeList = (names: readonly string[], last: "and" | "or"): string =>
  wordList(
    names.map((name) => `\`${name}\``),
    last,
  );
