/** How many requests an account may send: three sliding windows, decided together. */

export const windows = [
  { name: "minute", seconds: 60 },
  { name: "hour", seconds: 3600 },
  { name: "day", seconds: 86_400 },
] as const;

export type WindowName = (typeof windows)[number]["name"];

/** Requests each window admits, for one account. */
export type Quotas = Readonly<Record<WindowName, number>>;

/** What every account has unless the operator gives it other numbers. */
export const defaultQuotas: Quotas = Object.freeze({ minute: 60, hour: 1000, day: 10_000 });

/** As how many requests one can count and still be admitted, by whoever has sent no other for a day. */
export const greatestRequest = ({ minute, hour, day }: Quotas): number =>
  Math.min(minute, hour, day);

/** @throws RangeError for what no wait would make admissible, so that nobody is told to wait for it. */
export function assertRequests(requests: number, quotas: Quotas): void {
  const greatest = greatestRequest(quotas);
  if (!Number.isInteger(requests) || requests < 1 || requests > greatest)
    throw new RangeError(`A request must count 1 to ${greatest}, but counts ${requests}.`);
}

const quotaMin = 1;
/** Also bounds memory: a request is remembered for a day, in 8 bytes. */
export const quotaMax = 1_000_000;

/** What is wrong with a quota, as the end of a sentence that begins with its name; undefined where nothing is. */
export function quotaFault(value: unknown): string | undefined {
  const usable = Number.isInteger(value) && Number(value) >= quotaMin && Number(value) <= quotaMax;
  return usable ? undefined : `must be a whole number from ${quotaMin} to ${quotaMax}`;
}
