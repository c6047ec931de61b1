/** When a key is to end, as a form says it. */
import { StoreFault } from "#store/store-fault.ts";

const dayMilliseconds = 86_400_000;
const yearsMax = 10;

/**
 * @param expiry days, `never`, or `date`; @param lastDay for `date`: the last day on which the key works, of UTC.
 * @returns milliseconds since 1970; null for never.
 * @throws StoreFault `invalid`.
 */
export function readExpiry(expiry: string, lastDay: string, now: number): number | null {
  if (expiry === "never") return null;
  if (["30", "90", "365"].includes(expiry)) return now + Number(expiry) * dayMilliseconds;
  if (expiry !== "date") throw new StoreFault("invalid", "Choose when the key expires.");
  const end = endOf(lastDay);
  if (Number.isNaN(end))
    throw new StoreFault("invalid", "Choose the last day of the key, such as 2027-01-31.");
  if (end <= now) throw new StoreFault("invalid", `${lastDay} is over. Choose a day to come.`);
  if (end > now + yearsMax * 366 * dayMilliseconds)
    throw new StoreFault(
      "invalid",
      `A key lives ${yearsMax} years at most, unless it never expires. Choose an earlier day.`,
    );
  return end;
}

/** The moment after a day; not a number for what is no day. */
function endOf(day: string): number {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) return Number.NaN;
  const start = Date.parse(`${day}T00:00:00Z`);
  // The 31st of a month of 30 days is taken for the next day.
  const isDay = !Number.isNaN(start) && new Date(start).toISOString().startsWith(day);
  return isDay ? start + dayMilliseconds : Number.NaN;
}
