/** Last use of keys, totals by the hour, and the request log. */
import type { Kysely } from "kysely";
import { sqliteUsageSchema } from "#store/usage-schema.ts";

export async function up(database: Kysely<unknown>): Promise<void> {
  const { sql } = await import("kysely");
  for (const statement of sqliteUsageSchema) await sql.raw(statement).execute(database);
}
