/** The tables of `usage.sqlite`. Times are ISO 8601 text in UTC, except `request_log.at`. */
import type { Generated } from "kysely";

export interface KeyUseTable {
  /** Id of a key in control; the two stores are separate files, so nothing enforces it. */
  key_id: string;
  last_used_at: string;
  /** The network that the request came from, such as `203.0.113.0/24`; null where it was not recorded. */
  network: string | null;
}

/** Sums of an hour; kept for 400 days. */
export interface UsageHourTable {
  /** Number of an account in control. */
  account: number;
  /** Such as `2026-11-21T09`. */
  hour: string;
  key: string;
  operation: string;
  status: number;
  requests: number;
  bytes: number;
  milliseconds: number;
}

/** One row for each request; the oldest go first. */
export interface RequestLogTable {
  /** In the order in which requests were written. */
  number: Generated<number>;
  /** Milliseconds since 1970, when it was answered. */
  at: number;
  account: number;
  key: string;
  operation: string;
  status: number;
  milliseconds: number;
  /** Size of the content it was answered with. */
  bytes: number;
  /** Version of the dataset it was answered from; null where it was refused before. */
  dataset: string | null;
  /** Code of the problem it was answered with. */
  problem: string | null;
  request_id: string;
  /** As it was sent, with keys masked; null unless the operator stores it. */
  query: string | null;
}

export interface UsageTables {
  key_use: KeyUseTable;
  usage_hour: UsageHourTable;
  request_log: RequestLogTable;
}
