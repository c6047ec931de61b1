/** Reads moments, counts and durations from the command line. */
import { InvalidArgumentError } from "commander";
import { dayMilliseconds, hourMilliseconds, minuteMilliseconds } from "#store/durations.ts";

const dayStart = /^\d{4}-\d{2}-\d{2}/;
const momentShape = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z)?$/;

/**
 * Reads a moment. A day is its beginning, and all times are UTC.
 * @returns milliseconds since 1970, of the time that it is now.
 * @throws InvalidArgumentError saying what a moment looks like; commander puts the option's name before it.
 */
export function parseMoment(text: string): (now: number) => number {
  const isTime = dayStart.test(text);
  const milliseconds = isTime ? timeOf(text) : ago(text);
  if (Number.isNaN(milliseconds)) throw new InvalidArgumentError(explanation);
  return (now) => (isTime ? milliseconds : now - milliseconds);
}

/** NaN where there is no such time: Date.parse takes 31 November for the day after the 30th. */
function timeOf(text: string): number {
  const milliseconds = momentShape.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(milliseconds)) return milliseconds;
  return new Date(milliseconds).toISOString().startsWith(text.slice(0, 10))
    ? milliseconds
    : Number.NaN;
}

function ago(text: string): number {
  try {
    return parseDuration(text);
  } catch {
    return Number.NaN;
  }
}

const explanation =
  "Write a day or a time of UTC, such as 2026-11-21 or 2026-11-21T09:30Z, or how long ago, such as 24h.";

/** @throws InvalidArgumentError where it is no whole number from 1 to 999999999. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError("Write a whole number from 1 to 999999999.");
  return Number(text);
}

const unitMilliseconds = { m: minuteMilliseconds, h: hourMilliseconds, d: dayMilliseconds };
const durationShape = /^([1-9][0-9]{0,4})([mhd])$/;

/**
 * Milliseconds of a duration such as `90d`, `24h` or `30m`.
 * @throws InvalidArgumentError saying what a duration looks like; commander puts the option's name before it.
 */
function parseDuration(text: string): number {
  const [, count, unit] = durationShape.exec(text) ?? [];
  if (count === undefined || unit === undefined)
    throw new InvalidArgumentError(
      "Write a whole number from 1 to 99999 and m, h or d, such as 30m, 24h or 90d.",
    );
  return Number(count) * unitMilliseconds[unit as keyof typeof unitMilliseconds];
}

/** Milliseconds, or `never`: commander would turn a parsed null into an empty text. */
export function parseLifetime(text: string): number | "never" {
  if (text === "never") return text;
  try {
    return parseDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message.slice(0, -1)}, or never.`);
  }
}

/** Milliseconds; `0` for none at all. */
export const parseOverlap = (text: string): number => (text === "0" ? 0 : parseDuration(text));
