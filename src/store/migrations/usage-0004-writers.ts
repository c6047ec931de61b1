/** The last batch of each start of an instance in PostgreSQL, which a file holds for a backup of that database. */
import type { Kysely } from "kysely";

export async function up({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("usage_writer")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("batch", "integer", (column) => column.notNull())
    .addColumn("written_at", "text", (column) => column.notNull())
    .execute();
}
