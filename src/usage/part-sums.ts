/** The hourly sums of an account, added up by hour, day, key or operation, and by status. */
import { sql } from "kysely";
import type { UsageStore } from "#store/stores.ts";
import { hourAfter, hourOf } from "./time.ts";

/** Whole hours: `since` is taken from the beginning of its hour, `until` to the end of its own. */
export interface Span {
  /** Number of the account. */
  account: number;
  /** Milliseconds since 1970. */
  since: number;
  until: number;
}

/** Sums of one status. */
export interface StatusSums {
  status: number;
  requests: number;
  bytes: number;
  milliseconds: number;
}

export type PartSums = StatusSums & { part: string };

const unitLength = { hour: "2026-11-21T09".length, day: "2026-11-21".length };

/** A row for each part and status. */
export function sumsBy(
  usage: UsageStore,
  { account, since, until }: Span,
  by: "hour" | "day" | "key" | "operation",
): Promise<PartSums[]> {
  const part =
    by === "hour" || by === "day"
      ? sql<string>`substr(hour, 1, ${sql.lit(unitLength[by])})`
      : sql.ref<string>(by);
  return usage.database
    .selectFrom("usage_hour")
    .select((columns) => [
      part.as("part"),
      "status",
      columns.fn.sum<number>("requests").as("requests"),
      columns.fn.sum<number>("bytes").as("bytes"),
      columns.fn.sum<number>("milliseconds").as("milliseconds"),
    ])
    .where("account", "=", account)
    .where("hour", ">=", hourOf(since))
    .where("hour", "<", hourAfter(until))
    .groupBy([part, "status"])
    .execute();
}
