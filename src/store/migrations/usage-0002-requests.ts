/** What accounts asked: totals by the hour, and each request by itself. */
import type { Kysely } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema.alterTable("key_use").addColumn("network", "text").execute();
  await database.schema
    .createTable("usage_hour")
    .addColumn("account", "integer", (column) => column.notNull())
    .addColumn("hour", "text", (column) => column.notNull())
    .addColumn("key", "text", (column) => column.notNull())
    .addColumn("operation", "text", (column) => column.notNull())
    .addColumn("status", "integer", (column) => column.notNull())
    .addColumn("requests", "integer", (column) => column.notNull())
    .addColumn("bytes", "bigint", (column) => column.notNull())
    .addColumn("milliseconds", "real", (column) => column.notNull())
    .addPrimaryKeyConstraint("usage_hour_key", ["account", "hour", "key", "operation", "status"])
    .execute();
  await database.schema.createIndex("usage_hour_hour").on("usage_hour").column("hour").execute();
  await database.schema
    .createTable("request_log")
    .addColumn("number", "integer", (column) => column.primaryKey())
    // A number, where other tables have text: here are millions of them, once more in an index.
    .addColumn("at", "bigint", (column) => column.notNull())
    .addColumn("account", "integer", (column) => column.notNull())
    .addColumn("key", "text", (column) => column.notNull())
    .addColumn("operation", "text", (column) => column.notNull())
    .addColumn("status", "integer", (column) => column.notNull())
    .addColumn("milliseconds", "real", (column) => column.notNull())
    .addColumn("bytes", "bigint", (column) => column.notNull())
    .addColumn("dataset", "text")
    .addColumn("problem", "text")
    .addColumn("request_id", "text", (column) => column.notNull())
    .addColumn("query", "text")
    .execute();
  await database.schema
    .createIndex("request_log_account")
    .on("request_log")
    .columns(["account", "at"])
    .execute();
  await database.schema
    .createIndex("request_log_request_id")
    .on("request_log")
    .column("request_id")
    .execute();
}
