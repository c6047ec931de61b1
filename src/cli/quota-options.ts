/** The options that set an account's quotas, and the words that show them. */
import { InvalidArgumentError } from "commander";
import { quotaMax } from "#limits/policy.ts";
import type { Quotas } from "#store/control-tables.ts";
import { option } from "./command.ts";

// Not null for "default": commander turns a parsed null into an empty text.
type GivenQuota = number | "default";

const quotaOption = (name: string, seconds: string) =>
  option(
    `--per-${name} <n>`,
    `requests in ${seconds} seconds: 1 to ${quotaMax.toLocaleString("en-US")}, or default`,
    parseQuota,
  );

export const quotaOptions = {
  minute: quotaOption("minute", "60"),
  hour: quotaOption("hour", "3,600"),
  day: quotaOption("day", "86,400"),
};

function parseQuota(text: string): GivenQuota {
  if (text === "default") return text;
  if (!/^[0-9]{1,15}$/.test(text))
    throw new InvalidArgumentError("Write a whole number, or default.");
  return Number(text);
}

/** Only the windows that were given; null for those that go back to the default. */
export const quotasFrom = (given: {
  readonly [Window in keyof Quotas]: GivenQuota | undefined;
}): Partial<Quotas> =>
  Object.fromEntries(
    Object.entries(given)
      .filter(([, quota]) => quota !== undefined)
      .map(([window, quota]) => [window, quota === "default" ? null : quota]),
  );

export function quotasText({ minute, hour, day }: Quotas): string {
  if (minute === null && hour === null && day === null) return "the default quotas";
  const text = (requests: number | null) => requests ?? "default";
  return `${text(minute)} a minute, ${text(hour)} an hour, ${text(day)} a day`;
}
