/** Days as numbers and as text, up to the last day of the invented world. */
import { chance, whole, type Random } from "./random.ts";

const dayMilliseconds = 86_400_000;

/** Returns whole days since 1 January 1970. */
export const dayOf = (year: number, month = 1, day = 1): number =>
  Date.UTC(year, month - 1, day) / dayMilliseconds;

/** The latest day of past events; planned ones may be later. */
export const lastDay = dayOf(2026, 11, 20);
export const lastYear = 2026;

/** Returns a day as `YYYY-MM-DD`. */
export const dayText = (day: number): string =>
  new Date(day * dayMilliseconds).toISOString().slice(0, 10);

/** Returns a day as precisely as a source may know it: `YYYY-MM-DD`, `YYYY-MM` or `YYYY`. */
export function roughDay(random: Random, day: number): string {
  const text = dayText(day);
  if (chance(random, 0.4)) return text;
  return chance(random, 0.6) ? text.slice(0, 7) : text.slice(0, 4);
}

/** Returns a random minute of a day, `YYYY-MM-DDThh:mm:00Z`. */
export const someTime = (random: Random, day: number): string =>
  new Date(day * dayMilliseconds + whole(random, 0, 1439) * 60_000)
    .toISOString()
    .replace(".000", "");

/** Returns one of the last `spanDays` days; later ones are more likely. */
export const recentDay = (random: Random, spanDays: number): number =>
  lastDay - Math.floor(random() ** 3 * spanDays);
