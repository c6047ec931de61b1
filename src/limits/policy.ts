/** Quotas: how many requests an account may send in each of three sliding windows. */

export const windows = [
  { name: "minute", seconds: 60 },
  { name: "hour", seconds: 3600 },
  { name: "day", seconds: 86_400 },
] as const;

/** Time for which a request is remembered, in µs. */
export const dayMicroseconds = windows[2].seconds * 1e6;

export type WindowName = (typeof windows)[number]["name"];

/** Number of requests that each window admits for one account. */
export type Quotas = Readonly<Record<WindowName, number>>;

/** Quotas of windows for which the operator has set none. */
export const defaultQuotas: Quotas = Object.freeze({ minute: 60, hour: 1000, day: 10_000 });

export const withDefaults = ({ minute, hour, day }: Record<WindowName, number | null>): Quotas => ({
  minute: minute ?? defaultQuotas.minute,
  hour: hour ?? defaultQuotas.hour,
  day: day ?? defaultQuotas.day,
});

/** Returns the maximum number of requests that a single request may count as. More would never be admitted. */
export const greatestRequest = ({ minute, hour, day }: Quotas): number =>
  Math.min(minute, hour, day);

const quotaMin = 1;
/** Largest quota. It also limits memory, because each request is kept for a day, in 8 bytes. */
export const quotaMax = 1_000_000;

/** Returns a quota's fault, worded to follow the quota's name. Returns undefined if the quota is valid. */
export function quotaFault(value: unknown): string | undefined {
  const usable = Number.isInteger(value) && Number(value) >= quotaMin && Number(value) <= quotaMax;
  return usable ? undefined : `must be a whole number from ${quotaMin} to ${quotaMax}`;
}
