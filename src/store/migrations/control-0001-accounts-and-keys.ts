/** Accounts and the digests of their keys. */
import type { Kysely } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable("account")
    .addColumn("number", "integer", (column) => column.primaryKey())
    .addColumn("id", "text", (column) => column.notNull().unique())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("name_folded", "text", (column) => column.notNull().unique())
    .addColumn("per_minute", "integer")
    .addColumn("per_hour", "integer")
    .addColumn("per_day", "integer")
    .addColumn("suspended_at", "text")
    .addColumn("created_at", "text", (column) => column.notNull())
    .execute();
  await database.schema
    .createTable("api_key")
    .addColumn("id", "text", (column) => column.primaryKey())
    // The one word for bytes that both engines take: SQLite keeps a blob a blob under any name.
    .addColumn("digest", "bytea", (column) => column.notNull().unique())
    .addColumn("account", "integer", (column) => column.notNull().references("account.number"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("hint", "text", (column) => column.notNull())
    .addColumn("is_demo", "integer", (column) => column.notNull())
    .addColumn("created_at", "text", (column) => column.notNull())
    .addColumn("expires_at", "text")
    .addColumn("revoked_at", "text")
    .addColumn("replaced_by", "text")
    .execute();
  await database.schema.createIndex("api_key_account").on("api_key").column("account").execute();
}
