/** The tables of usage, in `usage.sqlite` or in PostgreSQL. Times are ISO 8601 text in UTC, except in the request log. */
import type { Generated } from "kysely";

export interface KeyUseTable {
  /** Id of a key in control. Nothing enforces it, because the two stores are separate files. */
  key_id: string;
  last_used_at: string;
  /** Network of the request, such as `203.0.113.0/24`; null if it was not recorded. */
  network: string | null;
}

/** Sums of an hour, kept for 400 days. */
export interface UsageHourTable {
  /** Number of an account in control. */
  account: number;
  /** Hour in UTC, such as `2026-11-21T09`. */
  hour: string;
  key: string;
  operation: string;
  status: number;
  requests: number;
  bytes: number;
  milliseconds: number;
}

/** Words of the request log, which names keys, operations, datasets and problems by number. */
interface WordTable {
  number: Generated<number>;
  word: string;
}

/** The request log. People read it through the view `requests`. */
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
  /** Response time in hundredths of a millisecond. */
  hundredths: number;
  status: number;
  /** Request id, as `packRequestId` writes it. */
  id: Uint8Array;
  query: string | null;
}

/** The one row with the start of the shown log, in ms since 1970. Older requests may not be removed yet. */
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
