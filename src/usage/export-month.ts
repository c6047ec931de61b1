/** Exports the requests of a month, by account, operation and key. */
import type { UsageStore } from "#store/stores.ts";
import { monthAfter } from "./time.ts";
import { addTo, emptyTotals, readSums, type StatusSums, type Totals } from "./totals.ts";

export const exportParts = ["account", "operation", "key"] as const;
export type ExportPart = (typeof exportParts)[number];

/** Totals of one combination of parts. A part that was not asked for is null. */
export interface ExportedUsage {
  /** Number of the account. */
  account: number | null;
  operation: string | null;
  /** Id of the key. */
  key: string | null;
  totals: Totals;
}

interface ExportOrder {
  /** Month in UTC, such as `2026-11`. */
  month: string;
  by: readonly ExportPart[];
  /** Number of the only account to export; all accounts if left out. */
  account?: number | undefined;
}

/** Sums with the parts that were asked for. */
interface ExportRow extends StatusSums {
  account?: number;
  operation?: string;
  key?: string;
}

/** Returns totals ordered by account, operation and key: one without parts, none without requests. */
export async function exportMonth(usage: UsageStore, order: ExportOrder): Promise<ExportedUsage[]> {
  const { month, by, account } = order;
  const parts = exportParts.filter((part) => by.includes(part));
  const rows: ExportRow[] = await readSums(usage, {
    by: parts,
    account,
    from: month,
    to: monthAfter(month),
  });
  const found = new Map<string, ExportedUsage>();
  const only = <Value>(part: ExportPart, value: Value | undefined): Value | null =>
    by.includes(part) ? value! : null;
  for (const row of rows) {
    const account = only("account", row.account);
    const operation = only("operation", row.operation);
    const key = only("key", row.key);
    const name = `${account} ${operation} ${key}`;
    const exported = found.get(name) ?? { account, operation, key, totals: emptyTotals() };
    found.set(name, exported);
    addTo(exported.totals, row);
  }
  return [...found.values()].toSorted(inOrder);
}

/** Compares numbers of accounts, then bytes of names, like the database. */
function inOrder(one: ExportedUsage, other: ExportedUsage): number {
  const names = ({ operation, key }: ExportedUsage) =>
    [operation ?? "", key ?? ""].map((name) => Buffer.from(name));
  const [operation, key] = names(one);
  const [otherOperation, otherKey] = names(other);
  return (
    (one.account ?? 0) - (other.account ?? 0) ||
    Buffer.compare(operation!, otherOperation!) ||
    Buffer.compare(key!, otherKey!)
  );
}
