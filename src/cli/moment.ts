/** Reads moments from the command line: a day, a time, or how long ago. */
import { InvalidArgumentError } from "commander";
import { parseDuration } from "./duration.ts";

const day = /^\d{4}-\d{2}-\d{2}/;
const shape = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?Z)?$/;

/**
 * Milliseconds since 1970; a day is its beginning, and all times are UTC.
 * @throws InvalidArgumentError saying what a moment looks like; commander puts the option's name before it.
 */
export const momentParser =
  (now: () => number) =>
  (text: string): number => {
    const milliseconds = day.test(text) ? timeOf(text) : now() - ago(text);
    if (Number.isNaN(milliseconds)) throw new InvalidArgumentError(explanation);
    return milliseconds;
  };

/** Not a number where there is no such time: Date.parse takes 31 November for the day after the 30th. */
function timeOf(text: string): number {
  const milliseconds = shape.test(text) ? Date.parse(text) : Number.NaN;
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
