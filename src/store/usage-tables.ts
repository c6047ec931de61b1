/** The tables of usage, in `usage.sqlite` or in PostgreSQL. Times are ISO 8601 text in UTC, except in the request log. */
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

/** Keys, operations, datasets and problems, which the request log names by number. */
interface WordTable {
  number: Generated<number>;
  word: string;
}

/** The request log. The view `requests` shows it to people. */
interface RequestTable {
  number: Generated<number>;
  /** Milliseconds since 1970. */
  at: number;
  /** Size of the response content. */
  bytes: number;
  account: number;
  key: number;
  operation: number;
  dataset: number | null;
  problem: number | null;
  /** How long it took, in hundredths of a millisecond. */
  hundredths: number;
  status: number;
  /** As `packRequestId` writes it. */
  id: Uint8Array;
  query: string | null;
}

/** The one row says since when the log is shown, in milliseconds since 1970: what is older may not be removed yet. */
interface RequestLogStartTable {
  at: number;
}

export interface UsageTables {
  key_use: KeyUseTable;
  usage_hour: UsageHourTable;
  word: WordTable;
  request: RequestTable;
  request_log_start: RequestLogStartTable;
}
