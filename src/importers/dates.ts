/** Reads dates in the formats a mapping names, as precisely as they are given. */
import { existsInCalendar } from "#records/fields.ts";
import { Unreadable } from "./import-fault.ts";

const monthNames = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

/** A time of day after a date is dropped. */
const timeOfDay = String.raw`(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[AP]M)?Z?)?`;

/** `MON` is the three-letter English name of a month. A year always has four digits. */
export const dateFormats = [
  "YYYY-MM-DD",
  "YYYY-MM",
  "YYYY",
  "YYYYMMDD",
  "MM/DD/YYYY",
  "DD/MM/YYYY",
  "MM/YYYY",
  "DD-MON-YYYY",
] as const;
export type DateFormat = (typeof dateFormats)[number];

/** Used where a mapping names no format; none of them can be mistaken for another. */
export const isoFormats: readonly DateFormat[] = ["YYYY-MM-DD", "YYYY-MM", "YYYY"];

/** Years outside this range are typing errors, or placeholders such as 0000 and 9999. */
const yearMin = 1600;
const yearMax = 2200;

const patterns = new Map(dateFormats.map((format) => [format, patternOf(format)]));

function patternOf(format: DateFormat): RegExp {
  const oneDigit = format.includes("/") || format.includes("MON") ? "1," : "";
  const digits = format
    .replace("YYYY", String.raw`(?<year>\d{4})`)
    .replace("MON", String.raw`(?<name>[a-z]{3})`)
    .replace("MM", String.raw`(?<month>\d{${oneDigit}2})`)
    .replace("DD", String.raw`(?<day>\d{${oneDigit}2})`);
  return new RegExp(`^${digits}${format.includes("DD") ? timeOfDay : ""}$`, "i");
}

/** `YYYY`, `YYYY-MM` or `YYYY-MM-DD`; the first format that fits decides. */
export function readDate(text: string, formats: readonly DateFormat[]): string | Unreadable {
  for (const format of formats) {
    const parts = patterns.get(format)?.exec(text)?.groups;
    if (parts !== undefined) return dateOf(parts);
  }
  return new Unreadable(`must be a date written ${formats.join(" or ")}`);
}

function dateOf(parts: Record<string, string | undefined>): string | Unreadable {
  const { year = "", day } = parts;
  const month = parts["name"] === undefined ? parts["month"] : monthNumber(parts["name"]);
  if (Number(year) < yearMin || Number(year) > yearMax)
    return new Unreadable(`must be a date from the year ${yearMin} to ${yearMax}`);
  const written = [year, month, day]
    .filter((part) => part !== undefined)
    .map((part) => part.padStart(2, "0"))
    .join("-");
  return existsInCalendar(written) ? written : new Unreadable("must be a date that exists");
}

function monthNumber(name: string): string {
  return String(monthNames.indexOf(name.toLowerCase()) + 1);
}
