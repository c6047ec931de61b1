/** Text on pages: sentences with code between backticks, lists of words, numbers and times. */
import { exactTime } from "#words.ts";
import { html, type Html } from "./html.ts";

export { counted, exactTime, grouped } from "#words.ts";

/** Returns text as HTML, with the words between backticks as code. @param text any text, because it is escaped. */
export function prose(text: string): Html {
  const pieces = text.split("`");
  // If the number of backticks is odd, they mark no code.
  if (pieces.length % 2 === 0) return html`${text}`;
  return html`${pieces.map((piece, i) => (i % 2 === 1 ? html`<code>${piece}</code>` : piece))}`;
}

export const codes = (names: readonly string[]): Html =>
  html`${names.map((name, i) => [i > 0 && ", ", html`<code>${name}</code>`])}`;

/** Joins words into a list such as `tag, theme and market`. */
export const wordList = (words: readonly string[], last: "and" | "or"): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;

/** Joins words into a list, with each word between backticks. */
export const codeList = (names: readonly string[]): string =>
  wordList(
    names.map((name) => `\`${name}\``),
    "and",
  );

const monthNames = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** Returns a day such as `20 Nov 2026`, `Nov 2026` or `2026`. @param day `YYYY-MM-DD`, `YYYY-MM` or `YYYY`. */
export function dayText(day: string): string {
  const [year, month, ofMonth] = day.split("-");
  const words = [ofMonth && Number(ofMonth), month && monthNames[Number(month) - 1], year];
  return words.filter(Boolean).join(" ");
}

export const dayElement = (day: string): Html =>
  html`<time datetime="${day}">${dayText(day)}</time>`;

const units = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const;

const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });

/**
 * Returns a time such as "4 minutes ago" or "in 5 days", with the exact time on hover, for pages that are never cached.
 * Rounds down, so that "in 5 days" means at least 5 days.
 * @param time RFC 3339 in UTC. @param now milliseconds since 1970.
 */
export function relativeTime(time: string, now: number): Html {
  const seconds = (Date.parse(time) - now) / 1000;
  const [unit, length] = units.find(([, one]) => Math.abs(seconds) >= one) ?? ["second", 1];
  const text =
    Math.abs(seconds) < 1 ? "just now" : relative.format(Math.trunc(seconds / length), unit);
  return html`<time datetime="${time}" title="${exactTime(time)}">${text}</time>`;
}
