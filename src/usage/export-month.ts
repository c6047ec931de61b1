/** The requests of a month, by account, operation and key. */
import type { UsageStore } from "#store/stores.ts";
import { monthAfter } from "./time.ts";
import { addTo, emptyTotals, type StatusSums, type Totals } from "./totals.ts";

export const exportParts = ["account", "operation", "key"] as const;
export type ExportPart = (typeof exportParts)[number];

/** A part that was not asked for is null. */
export interface ExportedUsage {
  /** Number of the account. */
  account: number | null;
  operation: string | null;
  /** Id of the key. */
  key: string | null;
  totals: Totals;
}

interface ExportOrder {
  /** Such as `2026-11`, of UTC. */
  month: string;
  by: readonly ExportPart[];
  /** Only this one. */
  account?: number | undefined;
}

/** With the parts that were asked for. */
interface ExportRow extends StatusSums {
  account?: number;
  operation?: string;
  key?: string;
}

/** Ordered by account, operation and key; one sum without parts, none without requests. */
export async function exportMonth(usage: UsageStore, order: ExportOrder): Promise<ExportedUsage[]> {
  const { month, by, account } = order;
  const parts = exportParts.filter((part) => by.includes(part));
  const groups = [...parts, "status"] as const;
  let query = usage.database
    .selectFrom("usage_hour")
    .select((columns) => [
      columns.fn.sum<number>("requests").as("requests"),
      columns.fn.sum<number>("bytes").as("bytes"),
      columns.fn.sum<number>("milliseconds").as("milliseconds"),
    ])
    .select(groups)
    .where("hour", ">=", month)
    .where("hour", "<", monthAfter(month))
    .groupBy(groups);
  for (const group of groups) query = query.orderBy(group);
  if (account !== undefined) query = query.where("account", "=", account);
  const found = new Map<string, ExportedUsage>();
  for (const row of (await query.execute()) as ExportRow[]) {
    const { account: number = null, operation = null, key = null } = row;
    const name = `${number} ${operation} ${key}`;
    const exported = found.get(name) ?? { account: number, operation, key, totals: emptyTotals() };
    found.set(name, exported);
    addTo(exported.totals, row);
  }
  return [...found.values()];
}
