/** How long the units of time are. */

export const minuteMilliseconds = 60_000;
export const hourMilliseconds = 60 * minuteMilliseconds;
export const dayMilliseconds = 24 * hourMilliseconds;
