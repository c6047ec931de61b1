/** Accounts, keys and people. */
import type { Kysely } from "kysely";
import { controlTableSql } from "#store/control-tables.ts";

/** What a server has to know of keys stands in three tables; whoever changes one of them need not think of that. */
const keyChanges = [
  "create table key_change (count integer not null)",
  "insert into key_change (count) values (0)",
  ...["api_key", "account", "plan"].flatMap((table) =>
    ["insert", "update", "delete"].map(
      (event) => `create trigger key_change_${table}_${event} after ${event} on ${table}
        begin update key_change set count = count + 1; end`,
    ),
  ),
];

export async function up(database: Kysely<unknown>): Promise<void> {
  // Loaded here, because every server reads the names of the steps, and few take one.
  const { sql } = await import("kysely");
  for (const statement of [...controlTableSql, ...keyChanges])
    await sql.raw(statement).execute(database);
}
