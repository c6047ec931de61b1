/** The options that set an account's quotas, and the words that show them. */
import { type Command, InvalidArgumentError } from "commander";
import { quotaMax, windows } from "#limits/policy.ts";
import type { Quotas } from "#store/control-tables.ts";

// Not null for "default": commander turns a parsed null into an empty text.
type GivenQuota = number | "default";

export interface QuotaOptions {
  perMinute?: GivenQuota;
  perHour?: GivenQuota;
  perDay?: GivenQuota;
}

export function withQuotaOptions(command: Command): Command {
  const range = `1 to ${grouped(quotaMax)}`;
  for (const { name, seconds } of windows)
    command.option(
      `--per-${name} <n>`,
      `requests in ${grouped(seconds)} seconds: ${range}, or default`,
      parseQuota,
    );
  return command;
}

/** Only the windows that were given; null for those that go back to the default. */
export function quotasFrom({ perMinute, perHour, perDay }: QuotaOptions): Partial<Quotas> {
  return {
    ...(perMinute !== undefined && { minute: orNull(perMinute) }),
    ...(perHour !== undefined && { hour: orNull(perHour) }),
    ...(perDay !== undefined && { day: orNull(perDay) }),
  };
}

const grouped = (number: number) => number.toLocaleString("en-US");

const orNull = (given: GivenQuota) => (given === "default" ? null : given);

export function quotasText({ minute, hour, day }: Quotas): string {
  if (minute === null && hour === null && day === null) return "the default quotas";
  const text = (requests: number | null) => requests ?? "default";
  return `${text(minute)} a minute, ${text(hour)} an hour, ${text(day)} a day`;
}

function parseQuota(text: string): GivenQuota {
  if (text === "default") return text;
  if (!/^[0-9]{1,15}$/.test(text))
    throw new InvalidArgumentError("Write a whole number, or default.");
  return Number(text);
}
