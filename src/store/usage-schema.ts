/**
 * The schema of usage for both engines: last use of keys, totals by the hour, and the request log. Times are ISO 8601 text
 * in UTC, except in the request log.
 */
import type { Generated } from "kysely";

/** Parts of SQL that differ between the engines. */
interface Dialect {
  text: string;
  /** Type of a column that counts by itself. */
  counted: string;
  /** Type of milliseconds with two digits, which add up exactly if the engine can do that. */
  milliseconds: string;
  /** Option of the table of hours: room for rows that change in place. */
  hourOptions: string;
  /** Columns in the index of the log besides account and time. */
  indexed: string;
  /** Returns the expression for a time in ms since 1970, as ISO 8601. */
  isoTime(column: string): string;
  /** Returns the expression for a stored id in readable form. */
  readableId(column: string): string;
}

const sqlite: Dialect = {
  text: "text",
  counted: "integer primary key",
  milliseconds: "real",
  hourOptions: "",
  // Every index of SQLite has the number.
  indexed: "",
  isoTime: (column) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch')`,
  readableId: (column) =>
    `case when substr(${column}, 1, 1) < x'20' then lower(hex(${column})) else cast(${column} as text) end`,
};

// Texts compare byte by byte, as in SQLite.
const postgres: Dialect = {
  text: 'text collate "C"',
  counted: "bigint generated always as identity",
  milliseconds: "numeric(20, 2)",
  hourOptions: " with (fillfactor = 80)",
  indexed: ", number",
  isoTime: (column) =>
    `to_char(to_timestamp(${column} / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  readableId: (column) =>
    `case when substring(${column} from 1 for 1) < '\\x20' then encode(${column}, 'hex') else convert_from(${column}, 'LATIN1') end`,
};

const statements = (dialect: Dialect): readonly string[] => [
  `create table key_use (
  key_id ${dialect.text} primary key,
  last_used_at ${dialect.text} not null,
  network ${dialect.text}
)`,
  `create table usage_hour (
  account bigint not null,
  hour ${dialect.text} not null,
  key ${dialect.text} not null,
  operation ${dialect.text} not null,
  status integer not null,
  requests bigint not null,
  bytes bigint not null,
  milliseconds ${dialect.milliseconds} not null,
  primary key (account, hour, key, operation, status)
)${dialect.hourOptions}`,
  "create index usage_hour_hour on usage_hour (hour)",
  // The last batch of each start of an instance. A batch without an answer is written again, and counts once.
  `create table usage_writer (
  id ${dialect.text} primary key,
  batch bigint not null,
  written_at ${dialect.text} not null
)`,
  `create table word (
  number ${dialect.counted},
  word ${dialect.text} not null unique
)`,
  `create table request (
  number ${dialect.counted},
  at bigint not null,
  bytes bigint not null,
  account integer not null,
  key integer not null,
  operation integer not null,
  dataset integer,
  problem integer,
  hundredths integer not null,
  status smallint not null,
  id bytea not null,
  query ${dialect.text}
)`,
  `create index request_account on request (account, at${dialect.indexed})`,
  `create table request_log_start (
  at bigint not null
)`,
  "insert into request_log_start values (0)",
  `create view requests as
select request.number, ${dialect.isoTime("at")} as at, account, key.word as key, operation.word as operation, status,
  hundredths / 100.0 as milliseconds, bytes, dataset.word as dataset, problem.word as problem,
  ${dialect.readableId("id")} as id, query
from request
  left join word as key on key.number = key
  left join word as operation on operation.number = operation
  left join word as dataset on dataset.number = dataset
  left join word as problem on problem.number = problem`,
];

export const sqliteUsageSchema = statements(sqlite);
export const postgresUsageSchema = `${statements(postgres).join(";\n\n")};\n`;

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
