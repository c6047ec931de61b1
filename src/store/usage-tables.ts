/** The tables of `usage.sqlite`; those of PostgreSQL are in `postgres-usage-sql.ts`. Times are ISO 8601 text in UTC, except in the request log. */
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

/** Sums of the last batches, which are not among those of their hour yet. */
interface UsageRecentTable {
  number: Generated<number>;
  /** Counts the batches. */
  batch: number;
  hour: string;
  /** As `listAccounts` writes them. */
  accounts: Uint8Array;
  /** In the form of `usage/recent-sums.ts`. */
  sums: Uint8Array;
}

/** Which requests are in a block or a group of blocks. */
interface RequestExtentColumns {
  /** Of the first request. */
  number: number;
  /** Of the last request. */
  last: number;
  /** Milliseconds since 1970. */
  first_at: number;
  last_at: number;
  /** When the first id was made that the service made; null where there is none. */
  first_made: number | null;
}

/** The requests of the last batches, a block for each row, which are in no group yet. */
interface RequestRecentTable extends RequestExtentColumns {
  /** Their accounts, as `listAccounts` writes them. */
  accounts: Uint8Array;
  /** In the form of `request-block.ts`. */
  content: Uint8Array;
}

/** Some ten thousand requests, ordered by account before they were cut into blocks. The oldest go first. */
type RequestGroupTable = RequestExtentColumns;

/** The blocks of a group: the first has its number, the next ones those that follow. */
interface RequestBlockTable {
  number: number;
  content: Uint8Array;
}

/** In which block of a group an account has requests. */
interface RequestRunTable {
  account: number;
  /** Of its requests there, in milliseconds since 1970. */
  last_at: number;
  block: number;
  first_at: number;
}

/** In which blocks of a group ids are that the service did not make, by the first byte of their hash. */
interface RequestTextIdTable {
  bucket: number;
  group_number: number;
  /** Four bytes for each id: three of its hash, one for the place of its block in the group. */
  entries: Uint8Array;
}

/** The one row says what is still to be seen of the log: whole blocks are removed some time after their requests became too old. */
interface RequestLogStartTable {
  number: number;
  at: number;
}

export interface UsageTables {
  key_use: KeyUseTable;
  usage_hour: UsageHourTable;
  usage_recent: UsageRecentTable;
  request_recent: RequestRecentTable;
  request_group: RequestGroupTable;
  request_block: RequestBlockTable;
  request_run: RequestRunTable;
  request_text_id: RequestTextIdTable;
  request_log_start: RequestLogStartTable;
}
