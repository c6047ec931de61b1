/** The options that set an account's quotas, and the words that show them. */
import { type Command, InvalidArgumentError } from "commander";
import type { Quotas } from "#store/control-tables.ts";

// Not null for "default": commander turns a parsed null into an empty text.
type GivenQuota = number | "default";

export interface QuotaOptions {
  perMinute?: GivenQuota;
  perHour?: GivenQuota;
  perDay?: GivenQuota;
}

export function withQuotaOptions(command: Command): Command {
  return command
    .option("--per-minute <n>", "requests in 60 seconds, or default", parseQuota)
    .option("--per-hour <n>", "requests in 3,600 seconds, or default", parseQuota)
    .option("--per-day <n>", "requests in 86,400 seconds, or default", parseQuota);
}

/** Only the windows that were given; null for those that go back to the default. */
export function quotasFrom({ perMinute, perHour, perDay }: QuotaOptions): Partial<Quotas> {
  return {
    ...(perMinute !== undefined && { minute: orNull(perMinute) }),
    ...(perHour !== undefined && { hour: orNull(perHour) }),
    ...(perDay !== undefined && { day: orNull(perDay) }),
  };
}

const orNull = (given: GivenQuota) => (given === "default" ? null : given);

export function quotasText({ minute, hour, day }: Quotas): string {
  const text = (requests: number | null) => requests ?? "default";
  return `${text(minute)} a minute, ${text(hour)} an hour, ${text(day)} a day`;
}

function parseQuota(text: string): GivenQuota {
  if (text === "default") return text;
  if (!/^[0-9]{1,15}$/.test(text))
    throw new InvalidArgumentError("Write a whole number, or default.");
  return Number(text);
}
