/** Quotas: how many requests an account may send in each of three sliding windows. */

export const windows = [
  { name: "minute", seconds: 60 },
  { name: "hour", seconds: 3600 },
  { name: "day", seconds: 86_400 },
] as const;

/** Time for which a request is remembered. */
export const dayMicroseconds = windows[2].seconds * 1e6;

export type WindowName = (typeof windows)[number]["name"];

/** Requests that each window admits, for one account. */
export type Quotas = Readonly<Record<WindowName, number>>;

/** Quotas of an account that the operator gave no others. */
export const defaultQuotas: Quotas = Object.freeze({ minute: 60, hour: 1000, day: 10_000 });

/** Returns the greatest number that one request may count as, admissible for an account that sent nothing for a day. */
export const greatestRequest = ({ minute, hour, day }: Quotas): number =>
  Math.min(minute, hour, day);

const quotaMin = 1;
/** Greatest quota. It bounds memory, too: a request is kept for a day, in 8 bytes. */
export const quotaMax = 1_000_000;

/** Returns the fault of a quota as the end of a sentence that begins with its name. Returns undefined if it has none. */
export function quotaFault(value: unknown): string | undefined {
  const usable = Number.isInteger(value) && Number(value) >= quotaMin && Number(value) <= quotaMax;
  return usable ? undefined : `must be a whole number from ${quotaMin} to ${quotaMax}`;
}
