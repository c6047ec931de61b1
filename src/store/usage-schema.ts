/**
 * The usage schema for both engines: keys' last use, hourly sums, and the request log. Times are ISO 8601 text in
 * UTC, except in the request log, where they are in ms since 1970.
 */
import { createTables, type RowsOf } from "./control-tables.ts";

/** All tables, with SQLite's types. */
const tables = {
  key_use: {
    /** Id of a key in the control store. There is no foreign key, because the two stores may be separate files. */
    key_id: "text primary key",
    last_used_at: "text not null",
    /** Network of the request, such as `203.0.113.0/24`; null if it was not recorded. */
    network: "text",
  },
  /** Hourly sums, kept for 400 days. */
  usage_hour: {
    /** Number of an account in the control store. */
    account: "bigint not null",
    /** Hour in UTC, such as `2026-11-21T09`. */
    hour: "text not null",
    key: "text not null",
    operation: "text not null",
    status: "integer not null",
    requests: "bigint not null",
    bytes: "bigint not null",
    milliseconds: "real not null",
    "primary key": "(account, hour, key, operation, status)",
  },
  /**
   * Number of each writer's last batch. A server has a new writer each time it starts. A batch whose answer was lost is
   * sent again, but counts once.
   */
  usage_writer: {
    id: "text primary key",
    batch: "bigint not null",
    written_at: "text not null",
  },
  /** Dictionary of the request log, whose rows refer to keys, operations, datasets and problems by number. */
  word: {
    number: "integer primary key",
    word: "text not null unique",
  },
  /** The request log. People read it through the view `requests`. */
  request: {
    number: "integer primary key",
    at: "bigint not null",
    /** Size of the response content. */
    bytes: "bigint not null",
    account: "integer not null",
    key: "integer not null",
    operation: "integer not null",
    dataset: "integer",
    problem: "integer",
    /** Response time in hundredths of a millisecond. */
    hundredths: "integer not null",
    status: "smallint not null",
    /** Request id, packed by `packRequestId`. */
    id: "bytea not null",
    query: "text",
  },
  /** Start of the visible log, in ms since 1970, in a single row. Older requests may not have been removed yet. */
  request_log_start: { at: "bigint not null" },
} as const;

export type UsageTables = RowsOf<typeof tables>;
export type KeyUseTable = UsageTables["key_use"];
export type UsageHourTable = UsageTables["usage_hour"];

/** SQL that differs by engine: further columns of the log's index, and expressions for a request's time and id. */
type Dialect = Record<"indexed" | "isoTime" | "readableId", string>;

const statements = ({ indexed, isoTime, readableId }: Dialect): readonly string[] => [
  ...createTables(tables, ""),
  "create index usage_hour_hour on usage_hour (hour)",
  `create index request_account on request (account, at${indexed})`,
  "insert into request_log_start values (0)",
  `create view requests as
select request.number, ${isoTime} as at, account, key.word as key, operation.word as operation, status,
  hundredths / 100.0 as milliseconds, bytes, dataset.word as dataset, problem.word as problem,
  ${readableId} as id, query
from request
  left join word as key on key.number = key
  left join word as operation on operation.number = operation
  left join word as dataset on dataset.number = dataset
  left join word as problem on problem.number = problem`,
];

export const sqliteUsageSchema = statements({
  // SQLite adds the row's number to every index.
  indexed: "",
  isoTime: "strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch')",
  readableId: "case when substr(id, 1, 1) < x'20' then lower(hex(id)) else cast(id as text) end",
});

/**
 * PostgreSQL's schema. Text compares byte by byte, as in SQLite. Milliseconds are exact decimals. Pages of hourly sums
 * keep space free, so that an updated row can stay on its page.
 */
export const postgresUsageSchema = `${statements({
  indexed: ", number",
  isoTime: `to_char(to_timestamp(at / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  readableId:
    "case when substring(id from 1 for 1) < '\\x20' then encode(id, 'hex') else convert_from(id, 'LATIN1') end",
})
  .join(";\n\n")
  .replaceAll(/\btext\b/g, 'text collate "C"')
  .replaceAll("integer primary key", "bigint generated always as identity")
  .replace(" real ", " numeric(20, 2) ")};

alter table usage_hour set (fillfactor = 80);
`;
