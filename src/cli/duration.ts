/** Reads durations such as `90d`, `24h` and `30m` from the command line. */
import { InvalidArgumentError } from "commander";

const unitMilliseconds = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const shape = /^([1-9][0-9]{0,4})([mhd])$/;

/**
 * Milliseconds.
 * @throws InvalidArgumentError saying what a duration looks like; commander puts the option's name before it.
 */
export function parseDuration(text: string): number {
  const [, count, unit] = shape.exec(text) ?? [];
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
