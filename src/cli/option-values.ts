/** Parsers of option values, such as moments and durations. Each throws InvalidArgumentError for text it cannot read. */
import { InvalidArgumentError } from "commander";
import type { RejectedMax } from "#datasets/publish.ts";
import { existsInCalendar } from "#records/fields.ts";
import { dayMilliseconds, hourMilliseconds, minuteMilliseconds } from "#store/durations.ts";

const momentShape = /^\d{4}-\d{2}-\d{2}(?:T(?:[01]\d|2[0-3]):\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z)?$/;

/**
 * Reads a moment: a time, a day (its beginning), or an age such as `24h`. All times are UTC.
 * @returns a function from the current time to the moment, both in ms since 1970.
 * @throws InvalidArgumentError with examples if the text is none of these. Commander puts the option's name first.
 */
export function parseMoment(text: string): (now: number) => number {
  const isTime = momentShape.test(text);
  const milliseconds = isTime ? timeOf(text) : durationOf(text);
  if (Number.isNaN(milliseconds))
    throw new InvalidArgumentError(
      "Write a day or a time in UTC, such as 2026-11-21 or 2026-11-21T09:30Z, or how long ago, such as 24h.",
    );
  return (now) => (isTime ? milliseconds : now - milliseconds);
}

/** Returns the time in ms since 1970. Returns NaN if there is no such day or time. */
const timeOf = (text: string): number =>
  existsInCalendar(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;

export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError("Write a whole number from 1 to 999999999.");
  return Number(text);
}

export function parseRejectedMax(text: string): RejectedMax {
  const [, count, percent] = /^(\d{1,9})(%?)$/.exec(text) ?? [];
  if (count === undefined || (percent === "%" && Number(count) > 100))
    throw new InvalidArgumentError(
      "Write a whole number of lines, such as 20, or a whole percentage from 0% to 100%, such as 5%.",
    );
  return percent === "%" ? { percent: Number(count) } : { lines: Number(count) };
}

export function parsePercent(text: string): number {
  const [, percent] = /^(\d{1,3})%$/.exec(text) ?? [];
  if (percent === undefined || Number(percent) > 100)
    throw new InvalidArgumentError("Write a whole percentage from 0% to 100%, such as 60%.");
  return Number(percent);
}

export function parseConfidence(text: string): number {
  if (!/^(?:0(?:\.\d{1,3})?|1(?:\.0{1,3})?)$/.test(text))
    throw new InvalidArgumentError(
      "Write a number from 0 to 1 with at most three decimals, such as 0.8.",
    );
  return Number(text);
}

const unitMilliseconds = { m: minuteMilliseconds, h: hourMilliseconds, d: dayMilliseconds };
const durationShape = /^([1-9][0-9]{0,4})([mhd])$/;

/** Returns the milliseconds of a duration such as `90d`, `24h` or `30m`. Returns NaN for other text. */
function durationOf(text: string): number {
  const [, count, unit] = durationShape.exec(text) ?? [];
  return Number(count) * unitMilliseconds[unit as keyof typeof unitMilliseconds];
}

/** Returns a duration in milliseconds. @param orElse end of the error message, with the option's other values. */
function parseDuration(text: string, orElse: string): number {
  const milliseconds = durationOf(text);
  if (Number.isNaN(milliseconds))
    throw new InvalidArgumentError(
      `Write a whole number from 1 to 99999 followed by m, h or d, such as 30m, 24h or 90d${orElse}.`,
    );
  return milliseconds;
}

/** Returns a lifetime in milliseconds, or `never` instead of null, which commander would turn into an empty string. */
export const parseLifetime = (text: string): number | "never" =>
  text === "never" ? text : parseDuration(text, ", or never");

/** Returns an overlap in milliseconds. `0` means no overlap. */
export const parseOverlap = (text: string): number =>
  text === "0" ? 0 : parseDuration(text, ", or 0");
