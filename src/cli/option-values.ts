/** Reads moments, counts, durations and quotas from the command line. */
import { InvalidArgumentError } from "commander";
import { quotaMax } from "#limits/policy.ts";
import type { Quotas } from "#store/control-tables.ts";
import { existsInCalendar } from "#records/fields.ts";
import { dayMilliseconds, hourMilliseconds, minuteMilliseconds } from "#store/durations.ts";
import { counted } from "#words.ts";
import { option } from "./command.ts";

const momentShape = /^\d{4}-\d{2}-\d{2}(?:T(?:[01]\d|2[0-3]):\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z)?$/;

/**
 * Reads a moment: a day, which means its beginning, a time, or how long ago. All times are UTC.
 * @returns a function from the current time to the moment, both in ms since 1970.
 * @throws InvalidArgumentError that shows what a moment looks like. Commander puts the option's name before it.
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

/** Reads a count. @throws InvalidArgumentError if it is not a whole number from 1 to 999999999. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError("Write a whole number from 1 to 999999999.");
  return Number(text);
}

const unitMilliseconds = { m: minuteMilliseconds, h: hourMilliseconds, d: dayMilliseconds };
const durationShape = /^([1-9][0-9]{0,4})([mhd])$/;

/** Returns the milliseconds of a duration such as `90d`, `24h` or `30m`. Returns NaN for other text. */
function durationOf(text: string): number {
  const [, count, unit] = durationShape.exec(text) ?? [];
  return Number(count) * unitMilliseconds[unit as keyof typeof unitMilliseconds];
}

/** Returns a duration in milliseconds. @param orElse end of the error, which names other values of the option. */
function parseDuration(text: string, orElse: string): number {
  const milliseconds = durationOf(text);
  if (Number.isNaN(milliseconds))
    throw new InvalidArgumentError(
      `Write a whole number from 1 to 99999 followed by m, h or d, such as 30m, 24h or 90d${orElse}.`,
    );
  return milliseconds;
}

/** Returns a lifetime in milliseconds, or `never`. Not null, which commander would turn into an empty string. */
export const parseLifetime = (text: string): number | "never" =>
  text === "never" ? text : parseDuration(text, ", or never");

/** Returns an overlap in milliseconds. `0` means no overlap. */
export const parseOverlap = (text: string): number =>
  text === "0" ? 0 : parseDuration(text, ", or 0");

// Not null for "default", because commander turns a parsed null into an empty string.
type GivenQuota = number | "default";

const quotaOption = (name: string, seconds: string) =>
  option(
    `--per-${name} <n>`,
    `requests in ${seconds} seconds: 1 to ${quotaMax.toLocaleString("en-US")}, or default`,
    parseQuota,
  );

/** Options that set the quotas of an account or a plan. */
export const quotaOptions = {
  minute: quotaOption("minute", "60"),
  hour: quotaOption("hour", "3,600"),
  day: quotaOption("day", "86,400"),
};

function parseQuota(text: string): GivenQuota {
  if (text === "default") return text;
  if (!/^[0-9]{1,15}$/.test(text))
    throw new InvalidArgumentError(
      `Write a whole number from 1 to ${quotaMax.toLocaleString("en-US")}, or default.`,
    );
  return Number(text);
}

/** Returns the quotas that were given; null for those that return to the default. */
export const quotasFrom = (given: {
  readonly [Window in keyof Quotas]: GivenQuota | undefined;
}): Partial<Quotas> =>
  Object.fromEntries(
    Object.entries(given)
      .filter(([, quota]) => quota !== undefined)
      .map(([window, quota]) => [window, quota === "default" ? null : quota]),
  );

/** Returns quotas in words. @param plan plan of the account whose quotas they are; null if there is none. */
export function quotasText({ minute, hour, day }: Quotas, plan: string | null = null): string {
  const usual = plan === null ? "the default" : "the plan's";
  if (minute === null && hour === null && day === null) return `${usual} quotas`;
  const text = (requests: number | null) =>
    requests === null ? `${usual} quota` : counted(requests, "request");
  return `${text(minute)} per minute, ${text(hour)} per hour and ${text(day)} per day`;
}
