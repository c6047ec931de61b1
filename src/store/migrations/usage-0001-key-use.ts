/** When each key was last used. */
import type { Kysely } from "kysely";

export async function up(database: Kysely<unknown>): Promise<void> {
  await database.schema
    .createTable("key_use")
    .addColumn("key_id", "text", (column) => column.primaryKey())
    .addColumn("last_used_at", "text", (column) => column.notNull())
    .execute();
}
