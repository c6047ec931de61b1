/** Converts dates of any precision to numbers that sort like their texts. */

const secondsOfDay = 86_400;

/**
 * Returns a date or time as a number: `2026-03-31` is 20260331, `2026-03` is 20260300 and `2026` is 20260000. A time
 * adds the fraction of the day that has passed.
 */
export function dateKey(text: string): number {
  const day = Number(text.slice(0, 10).replaceAll("-", "").padEnd(8, "0"));
  if (text.length <= 10) return day;
  const [hours = 0, minutes = 0, seconds = 0] = text.slice(11, -1).split(":").map(Number);
  return day + (hours * 3600 + minutes * 60 + seconds) / secondsOfDay;
}

/** Returns the first day of a key's year or month, and the day of any other key. */
export const firstDay = (key: number) => dayIn(key, 101, 1);

/** Returns the last day of a key's year or month, and the day of any other key. Months count as ending on the 31st. */
export const lastDay = (key: number) => dayIn(key, 1231, 31);

function dayIn(key: number, ofYear: number, ofMonth: number): number {
  const day = Math.floor(key);
  if (day % 10_000 === 0) return day + ofYear;
  return day % 100 === 0 ? day + ofMonth : day;
}

const relativeShape = /^-([0-9]{1,5})d$/;

export const isRelative = (date: string): boolean => relativeShape.test(date);

/** Resolves a date such as `-90d`, counted from a day. Returns other dates unchanged. @param day `YYYY-MM-DD`. */
export function onDay(date: string, day: string): string {
  const days = relativeShape.exec(date)?.[1];
  if (days === undefined) return date;
  const time = new Date(`${day}T00:00:00Z`);
  time.setUTCDate(time.getUTCDate() - Number(days));
  return time.toISOString().slice(0, 10);
}
