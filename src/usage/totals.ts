/** What an account asked, added up by hour, day, key or operation. Hours, days and months are those of UTC. */
import type { UsageStore } from "#store/stores.ts";
import { type PartSums, type Span, type StatusSums, sumsBy } from "./part-sums.ts";
import { type StatusClass, statusClasses, statusClassOf } from "./status-class.ts";
import { dayMilliseconds, hourMilliseconds } from "./time.ts";

export type { Span, StatusSums };

export interface Totals {
  requests: number;
  /** Content of the answers. */
  bytes: number;
  /** Sum of what the answers took. */
  milliseconds: number;
  byClass: Record<StatusClass, number>;
  /** Those of the 4xx that were a 429. */
  overQuota: number;
}

/** An hour or a day. */
export interface Bar extends Totals {
  /** ISO time of its beginning. */
  at: string;
}

export const emptyTotals = (): Totals => ({
  requests: 0,
  bytes: 0,
  milliseconds: 0,
  byClass: Object.fromEntries(statusClasses.map((name) => [name, 0])) as Totals["byClass"],
  overQuota: 0,
});

export function addTo(totals: Totals, sums: StatusSums): void {
  const { status, requests } = sums;
  totals.requests += requests;
  totals.bytes += sums.bytes;
  totals.milliseconds += sums.milliseconds;
  totals.byClass[statusClassOf(status)] += requests;
  if (status === 429) totals.overQuota += requests;
}

const unitMilliseconds = { hour: hourMilliseconds, day: dayMilliseconds };

/** Oldest first; the last is the hour or day of `now`. Those in which nothing was asked are there too. */
export async function readBars(
  usage: UsageStore,
  order: { account: number; unit: "hour" | "day"; count: number; now: number },
): Promise<Bar[]> {
  const { account, unit, count, now } = order;
  const size = unitMilliseconds[unit];
  const first = (Math.floor(now / size) - count + 1) * size;
  const bars = Array.from({ length: count }, (_, i) => ({
    at: new Date(first + i * size).toISOString(),
    ...emptyTotals(),
  }));
  const found = await sumsBy(usage, { account, since: first, until: first + count * size }, unit);
  for (const { part, ...sums } of found) {
    const bar = bars.find(({ at }) => at.startsWith(part));
    if (bar !== undefined) addTo(bar, sums);
  }
  return bars;
}

export async function readTotals(usage: UsageStore, span: Span): Promise<Totals> {
  const all = emptyTotals();
  for (const { totals } of await readTotalsByKey(usage, span)) {
    for (const name of statusClasses) all.byClass[name] += totals.byClass[name];
    all.requests += totals.requests;
    all.bytes += totals.bytes;
    all.milliseconds += totals.milliseconds;
    all.overQuota += totals.overQuota;
  }
  return all;
}

/** Most requests first. */
export async function readTotalsByKey(
  usage: UsageStore,
  span: Span,
): Promise<{ key: string; totals: Totals }[]> {
  const found = gathered(await sumsBy(usage, span, "key"));
  return found.map(([key, totals]) => ({ key, totals }));
}

/** Most requests first. */
export async function readTotalsByOperation(
  usage: UsageStore,
  span: Span,
): Promise<{ operation: string; totals: Totals }[]> {
  const found = gathered(await sumsBy(usage, span, "operation"));
  return found.map(([operation, totals]) => ({ operation, totals }));
}

/** Requests since midnight, by key id; keys that asked nothing are missing. @param now milliseconds since 1970. */
export async function readRequestsToday(
  usage: UsageStore,
  account: number,
  now: number,
): Promise<Map<string, number>> {
  const since = Math.floor(now / dayMilliseconds) * dayMilliseconds;
  const found = await readTotalsByKey(usage, { account, since, until: since + dayMilliseconds });
  return new Map(found.map(({ key, totals }) => [key, totals.requests]));
}

function gathered(rows: readonly PartSums[]): [string, Totals][] {
  const byPart = new Map<string, Totals>();
  for (const { part, ...sums } of rows) {
    const totals = byPart.get(part) ?? emptyTotals();
    byPart.set(part, totals);
    addTo(totals, sums);
  }
  return [...byPart].toSorted(([, one], [, other]) => other.requests - one.requests);
}
