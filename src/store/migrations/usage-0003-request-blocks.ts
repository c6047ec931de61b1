/** The request log in blocks instead of a row for each request, and totals that wait to be added to their hour. */
import type { Kysely } from "kysely";
import { encodeBlocks, listAccounts, orderByAccount } from "#store/request-block.ts";
import { columnsOfRequests, extentOf, type StoredRequest } from "#store/request-columns.ts";

export async function up(database: Kysely<unknown>): Promise<void> {
  const { sql } = await import("kysely");
  await database.schema
    .createTable("usage_recent")
    .addColumn("number", "integer", (column) => column.primaryKey())
    .addColumn("batch", "integer", (column) => column.notNull())
    .addColumn("hour", "text", (column) => column.notNull())
    .addColumn("accounts", "bytea", (column) => column.notNull())
    .addColumn("sums", "bytea", (column) => column.notNull())
    .execute();
  await database.schema
    .createTable("request_recent")
    .addColumn("number", "integer", (column) => column.primaryKey())
    .addColumn("last", "integer", (column) => column.notNull())
    .addColumn("first_at", "bigint", (column) => column.notNull())
    .addColumn("last_at", "bigint", (column) => column.notNull())
    .addColumn("first_made", "bigint")
    .addColumn("accounts", "bytea", (column) => column.notNull())
    .addColumn("content", "bytea", (column) => column.notNull())
    .execute();
  await database.schema
    .createTable("request_group")
    .addColumn("number", "integer", (column) => column.primaryKey())
    .addColumn("last", "integer", (column) => column.notNull())
    .addColumn("first_at", "bigint", (column) => column.notNull())
    .addColumn("last_at", "bigint", (column) => column.notNull())
    .addColumn("first_made", "bigint")
    .execute();
  await database.schema
    .createTable("request_block")
    .addColumn("number", "integer", (column) => column.primaryKey())
    .addColumn("content", "bytea", (column) => column.notNull())
    .execute();
  await database.schema
    .createTable("request_run")
    .addColumn("account", "integer", (column) => column.notNull())
    .addColumn("last_at", "bigint", (column) => column.notNull())
    .addColumn("block", "integer", (column) => column.notNull())
    .addColumn("first_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("request_run_key", ["account", "last_at", "block"])
    .modifyEnd(sql`without rowid`)
    .execute();
  await database.schema
    .createTable("request_text_id")
    .addColumn("bucket", "integer", (column) => column.notNull())
    .addColumn("group_number", "integer", (column) => column.notNull())
    .addColumn("entries", "bytea", (column) => column.notNull())
    .addPrimaryKeyConstraint("request_text_id_key", ["bucket", "group_number"])
    .modifyEnd(sql`without rowid`)
    .execute();
  await database.schema
    .createTable("request_log_start")
    .addColumn("number", "integer", (column) => column.notNull())
    .addColumn("at", "bigint", (column) => column.notNull())
    .execute();
  await sql`insert into request_log_start (number, at) values (0, 0)`.execute(database);
  await takeOver(database);
  await database.schema.dropTable("request_log").execute();
}

/** Of some hundred kilobytes; the writer makes groups of them. */
const rowsEach = 4096;

async function takeOver(database: Kysely<unknown>): Promise<void> {
  const { sql } = await import("kysely");
  for (let after = 0; ;) {
    const { rows } = await sql<StoredRequest>`
      select number, at, account, key, operation, status, milliseconds, bytes, dataset, problem,
        request_id as "requestId", query
      from request_log where number > ${after} order by number limit ${rowsEach}`.execute(database);
    if (rows.length === 0) return;
    const columns = columnsOfRequests(rows);
    const ordered = orderByAccount(columns);
    const { number, last, firstAt, lastAt, firstMade } = extentOf(columns, ordered.order);
    const [block] = encodeBlocks(columns, ordered, rowsEach, false);
    await sql`
      insert into request_recent (number, last, first_at, last_at, first_made, accounts, content)
      values (${number}, ${last}, ${firstAt}, ${lastAt}, ${firstMade},
        ${listAccounts(ordered.accounts)}, ${block!.content})`.execute(database);
    after = last;
  }
}
