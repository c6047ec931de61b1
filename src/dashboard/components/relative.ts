/** Times and durations in words, relative to when the page is made: account pages are never cached. */
import { html, type Html } from "#pages/html.ts";

const units = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const;

const words = new Intl.RelativeTimeFormat("en", { numeric: "always" });

/**
 * "4 minutes ago" or "in 5 days", with the exact time on hover. Rounded down, so that "in 5 days" is never less.
 * @param time RFC 3339 in UTC. @param now milliseconds since 1970.
 */
export function relativeTime(time: string, now: number): Html {
  const seconds = (Date.parse(time) - now) / 1000;
  const [unit, length] = units.find(([, one]) => Math.abs(seconds) >= one) ?? ["second", 1];
  const text =
    Math.abs(seconds) < 1 ? "just now" : words.format(Math.trunc(seconds / length), unit);
  return html`<time datetime="${time}" title="${exactTime(time)}">${text}</time>`;
}

/** To the second. */
export const exactTime = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 19)} UTC`;

/** Such as `34 s`, `12 min` or `5 h 20 min`: rounded up, so that waiting that long is enough. */
export function durationText(seconds: number): string {
  if (seconds < 120) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
