/** Numbers, counts and times as text for people. */

/** Returns a whole number with separators, such as `12,345`. */
export const grouped = (number: number): string => number.toLocaleString("en-US");

/** Returns a count such as `1 key` or `12,345 keys`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`;

/** Returns a time to the second, such as `2026-11-20 03:00:00 UTC`. */
export const exactTime = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 19)} UTC`;
