/** Adds up requests by hour, day, key or operation, and exports a month's totals. Hours and days are in UTC. */
import { type RawBuilder, sql } from "kysely";
import type { Column } from "#csv.ts";
import { dayMilliseconds, hourMilliseconds, hourOf, monthAfter } from "#store/durations.ts";
import type { UsageStore } from "#store/stores.ts";

export const statusClasses = ["2xx", "3xx", "4xx", "5xx"] as const;
export type StatusClass = (typeof statusClasses)[number];

export interface Totals {
  requests: number;
  /** Size of the response contents. */
  bytes: number;
  /** Sum of the response times. */
  milliseconds: number;
  byClass: Record<StatusClass, number>;
  /** Responses with status 429, which also count as 4xx. */
  overQuota: number;
}

/** Columns of totals in machine-readable output: members of JSON objects and columns of CSV. */
export const totalsColumns: readonly Column<Totals>[] = [
  { name: "requests", of: (totals) => totals.requests },
  ...statusClasses.map((name) => ({
    name: `status_${name}`,
    of: (totals: Totals) => totals.byClass[name],
  })),
  { name: "status_429", of: (totals) => totals.overQuota },
  { name: "bytes", of: (totals) => totals.bytes },
  { name: "ms", of: (totals) => Math.round(totals.milliseconds * 100) / 100 },
];

export interface Bar extends Totals {
  /** Start of the hour or day in ISO 8601. */
  at: string;
}

const noTotals: Totals = {
  requests: 0,
  bytes: 0,
  milliseconds: 0,
  byClass: { "2xx": 0, "3xx": 0, "4xx": 0, "5xx": 0 },
  overQuota: 0,
};

const unitMilliseconds = { hour: hourMilliseconds, day: dayMilliseconds };

/** Returns the totals of each of the last `count` hours or days, oldest first. The last one contains `now`. */
export async function readBars(
  usage: UsageStore,
  order: { account: number; unit: "hour" | "day"; count: number; now: number },
): Promise<Bar[]> {
  const { account, unit, count, now } = order;
  const size = unitMilliseconds[unit];
  const first = (Math.floor(now / size) - count + 1) * size;
  const span = { from: hourOf(first), to: hourOf(first + count * size) };
  const sums = await readSums(usage, { by: [unit], account, ...span });
  return Array.from({ length: count }, (_, i) => {
    const at = new Date(first + i * size).toISOString();
    const found = sums.find((one) => at.startsWith(one[unit]));
    return { at, ...(found?.totals ?? noTotals) };
  });
}

/**
 * Returns the number of requests on each of the last `count` days in UTC, oldest first, by key id. The last day
 * contains `now`. Leaves out keys without requests.
 */
export async function readDaysByKey(
  usage: UsageStore,
  { account, count, now }: { account: number; count: number; now: number },
): Promise<Map<string, number[]>> {
  const first = Math.floor(now / dayMilliseconds) - count + 1;
  const from = hourOf(first * dayMilliseconds);
  const to = hourOf((first + count) * dayMilliseconds);
  const byKey = new Map<string, number[]>();
  const sums = await readSums(usage, { by: ["key", "day"], account, from, to });
  for (const { key, day, totals } of sums) {
    const days = byKey.getOrInsertComputed(key, () => Array.from({ length: count }, () => 0));
    days[Date.parse(day) / dayMilliseconds - first] = totals.requests;
  }
  return byKey;
}

/** Returns the totals of each key or operation that has requests in the span, most requests first. */
export async function readTotalsBy(
  usage: UsageStore,
  { account, since, until }: Span,
  by: "key" | "operation",
): Promise<[string, Totals][]> {
  const span = { from: hourOf(since), to: hourOf(until + hourMilliseconds - 1) };
  const sums = await readSums(usage, { by: [by], account, ...span });
  return sums
    .map((one): [string, Totals] => [one[by], one.totals])
    .toSorted(([, one], [, other]) => other.requests - one.requests);
}

/** Account and period to total, in whole hours: `since` is rounded down and `until` up. `until` is exclusive. */
export interface Span {
  account: number;
  /** Milliseconds since 1970. */
  since: number;
  until: number;
}

interface SumParts {
  account: number;
  hour: string;
  /** Day in UTC, such as `2026-11-21`. */
  day: string;
  key: string;
  operation: string;
}

const partOf = (part: keyof SumParts): RawBuilder<unknown> =>
  part === "day" ? sql`substr(hour, 1, ${sql.lit("2026-11-21".length)})` : sql.ref(part);

const classSums = statusClasses.map(
  (name) =>
    sql`sum(case when status / 100 = ${sql.lit(Number(name[0]))} then requests else 0 end) as ${sql.ref(name)},`,
);

/**
 * Returns the totals of each combination of the parts that has requests, sorted by the parts in the given order. Text
 * sorts by its bytes.
 * @param order `account`: the account's number; by default all accounts. `from`: the first hour. `to`: the hour after
 *   the last one. Both may be prefixes of hours, such as a month.
 */
export async function readSums<Part extends keyof SumParts>(
  { database }: UsageStore,
  order: { by: readonly Part[]; account?: number | undefined; from: string; to: string },
): Promise<(Pick<SumParts, Part> & { totals: Totals })[]> {
  const { by, account, from, to } = order;
  const groups = sql.join(by.map(partOf));
  const names = by.map((part) => sql`${partOf(part)} as ${sql.ref(part)},`);
  const isOwn = account === undefined ? sql`` : sql`and account = ${account}`;
  type Row = Pick<SumParts, Part> & Omit<Totals, "byClass"> & Totals["byClass"];
  const { rows } = await sql<Row>`
    select ${sql.join([...names, ...classSums], sql` `)} sum(requests) as requests, sum(bytes) as bytes,
      sum(milliseconds) as milliseconds, sum(case when status = 429 then requests else 0 end) as "overQuota"
    from usage_hour where hour >= ${from} and hour < ${to} ${isOwn}
    ${by.length === 0 ? sql`having count(*) > 0` : sql`group by ${groups} order by ${groups}`}`.execute(
    database,
  );
  return rows.map((row) => {
    const { requests, bytes, milliseconds, overQuota } = row;
    const byClass = { "2xx": row["2xx"], "3xx": row["3xx"], "4xx": row["4xx"], "5xx": row["5xx"] };
    return { ...row, totals: { requests, bytes, milliseconds, byClass, overQuota } };
  });
}

export const exportParts = ["account", "operation", "key"] as const;
export type ExportPart = (typeof exportParts)[number];

/** Totals of one combination of parts. A part that was not requested is null. */
export type ExportedUsage = Awaited<ReturnType<typeof exportMonth>>[number];

/**
 * Returns a month's totals for each combination of the parts. Without parts there is one row, and without requests
 * there is none.
 * @param order `month` is in UTC, such as `2026-11`.
 */
export async function exportMonth(
  usage: UsageStore,
  { month, by }: { month: string; by: readonly ExportPart[] },
) {
  const sums: (Partial<Pick<SumParts, ExportPart>> & { totals: Totals })[] = await readSums(usage, {
    by: exportParts.filter((part) => by.includes(part)),
    from: month,
    to: monthAfter(month),
  });
  return sums.map(({ account = null, operation = null, key = null, totals }) => ({
    account,
    operation,
    key,
    totals,
  }));
}
