/** Lengths of time units in ms, and functions for UTC hours and months as strings. */

export const minuteMilliseconds = 60_000;
export const hourMilliseconds = 60 * minuteMilliseconds;
export const dayMilliseconds = 24 * hourMilliseconds;

/** Returns a time's UTC hour, such as `2026-11-21T09`. */
export const hourOf = (milliseconds: number) => new Date(milliseconds).toISOString().slice(0, 13);

const monthShape = /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])$/;

export const isMonth = (text: string): boolean => monthShape.test(text);

/** Returns the next month, such as `2026-12` after `2026-11`. */
export const monthAfter = (month: string): string => {
  const [year, number] = month.split("-").map(Number);
  return new Date(Date.UTC(year!, number!)).toISOString().slice(0, month.length);
};
