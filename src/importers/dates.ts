/** Reads dates in the formats that a mapping names. A date is a year, a month or a day. */
import { existsInCalendar } from "#records/fields.ts";
import { Unreadable } from "./import-fault.ts";

const monthNames =
  "january february march april may june july august september october november december".split(
    " ",
  );

/** Pattern of a time of day after a date. The time is dropped. */
const timeOfDay = String.raw`(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[AP]M)?Z?)?`;

/**
 * Date formats. `MON` is the first three letters of a month's English name. `dmy`, `mdy` and `ymd` take slashes,
 * points, commas, hyphens or spaces, and months as numbers or names, which may be cut to three or more letters.
 */
export const dateFormats = [
  "YYYY-MM-DD",
  "YYYY-MM",
  "YYYY",
  "YYYYMMDD",
  "MM/DD/YYYY",
  "DD/MM/YYYY",
  "MM/YYYY",
  "DD-MON-YYYY",
  "dmy",
  "mdy",
  "ymd",
] as const;
export type DateFormat = (typeof dateFormats)[number];

/** Formats for a mapping that names none. They cannot be mistaken for one another. */
export const isoFormats: readonly DateFormat[] = ["YYYY-MM-DD", "YYYY-MM", "YYYY"];

/** Range of valid years. Other years are typing errors, or placeholders such as 0000 and 9999. */
const yearMin = 1600;
const yearMax = 2200;

/** Patterns of the parts of `dmy`, `mdy` and `ymd`. */
const partOf: Readonly<Record<string, string>> = {
  d: String.raw`(?<day>\d{1,2})`,
  m: String.raw`(?:(?<month>\d{1,2})|(?<name>[a-z]{3,9}))`,
  y: String.raw`(?<year>\d{4})`,
};

const patterns = new Map(dateFormats.map((format) => [format, patternOf(format)]));

function patternOf(format: DateFormat): RegExp {
  if (/^[dmy]+$/.test(format)) {
    const parts = Array.from(format, (letter) => partOf[letter]);
    return new RegExp(`^${parts.join(String.raw`(?:[.,] ?|[-/ ])`)}${timeOfDay}$`, "i");
  }
  const oneDigit = format.includes("/") || format.includes("MON") ? "1," : "";
  const digits = format
    .replace("YYYY", String.raw`(?<year>\d{4})`)
    .replace("MON", String.raw`(?<name>[a-z]{3})`)
    .replace("MM", String.raw`(?<month>\d{${oneDigit}2})`)
    .replace("DD", String.raw`(?<day>\d{${oneDigit}2})`);
  return new RegExp(`^${digits}${format.includes("DD") ? timeOfDay : ""}$`, "i");
}

/** Returns a date as `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, or Unreadable. The first format that fits decides. */
export function readDate(text: string, formats: readonly DateFormat[]): string | Unreadable {
  for (const format of formats) {
    const parts = patterns.get(format)?.exec(text)?.groups;
    if (parts !== undefined) return dateOf(parts, format);
  }
  return new Unreadable(
    `must be a date written ${formats.join(" or ")}; if it is a date in another format, add that format to "dates" in the mapping`,
  );
}

/** Returns the number of a month. Returns 0 if there is no such month. */
const monthOf = (name: string) => monthNames.findIndex((month) => month.startsWith(name)) + 1;

function dateOf(
  parts: Record<string, string | undefined>,
  format: DateFormat,
): string | Unreadable {
  const { year = "", name, day } = parts;
  const month = name === undefined ? parts["month"] : String(monthOf(name.toLowerCase()));
  if (Number(year) < yearMin || Number(year) > yearMax)
    return new Unreadable(`must be a date in a year from ${yearMin} to ${yearMax}`);
  const written = [year, month, day]
    .filter((part) => part !== undefined)
    .map((part) => part.padStart(2, "0"))
    .join("-");
  if (existsInCalendar(written)) return written;
  return new Unreadable(`must be a date that exists; the cell was read as ${format}`);
}
