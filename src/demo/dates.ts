/** Days as numbers and as text, up to the last day of the invented world. */
import { pick, type Random } from "./random.ts";

const dayMilliseconds = 86_400_000;

/** Whole days since 1 January 1970. */
export const dayOf = (year: number, month = 1, day = 1): number =>
  Date.UTC(year, month - 1, day) / dayMilliseconds;

/** Nothing that has happened is later; what is planned may be. */
export const lastDay = dayOf(2026, 11, 20);
export const lastYear = 2026;

const firstDay = dayOf(1980);
const endDay = dayOf(2040);
// Each day is needed dozens of times; all are made with the first.
let texts: readonly string[] | undefined;

/** `YYYY-MM-DD` of a day from 1980 to 2039. */
export function dayText(day: number): string {
  texts ??= Array.from({ length: endDay - firstDay }, (_, at) =>
    new Date((firstDay + at) * dayMilliseconds).toISOString().slice(0, 10),
  );
  return texts[day - firstDay] as string;
}

/** A day as precisely as a source may know it: `YYYY-MM-DD`, `YYYY-MM` or `YYYY`. */
export function roughDay(random: Random, day: number): string {
  const draw = random();
  const text = dayText(day);
  if (draw < 0.4) return text;
  return draw < 0.75 ? text.slice(0, 7) : text.slice(0, 4);
}

const two = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, "0"));
const minutes = two.slice(0, 24).flatMap((hour) => two.map((minute) => `T${hour}:${minute}:00Z`));

/** Some minute of a day, `YYYY-MM-DDThh:mm:00Z`. */
export const someTime = (random: Random, day: number): string =>
  dayText(day) + pick(random, minutes);

/** A day of the last `spanDays`, the more likely the later. */
export function recentDay(random: Random, spanDays: number): number {
  const share = random();
  return lastDay - Math.floor(share * share * share * spanDays);
}
