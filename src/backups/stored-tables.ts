/** The databases in a backup and their tables. Copies rows from PostgreSQL into a file and back. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { controlTableNames } from "#store/control-tables.ts";
import type { PostgresSession } from "#store/postgres.ts";
import type { StoreName } from "#store/sqlite-file.ts";
import { BackupFault } from "./backup-fault.ts";

/** Tables of each store, without the request log. Parents come before tables that refer to them. */
export const storedTables: Readonly<Record<StoreName, readonly string[]>> = {
  "control.sqlite": controlTableNames,
  "usage.sqlite": ["key_use", "usage_hour", "usage_writer"],
};

/** Tables of the request log. A backup includes their rows only with `--requests`. */
export const requestTables = ["word", "request"] as const;

const rowsAtOnce = 1000;

/** Copies a table's rows, as the session's transaction sees them, to the same table of a file. */
export async function fetchTable(
  { query }: Pick<PostgresSession, "query">,
  file: DatabaseSync,
  table: string,
): Promise<void> {
  const columns = columnsOf(file, table);
  const insert = file.prepare(
    `insert into ${table} (${listed(columns)}) values (${columns.map(() => "?").join(", ")})`,
  );
  await query(`declare stored no scroll cursor for select ${listed(columns)} from ${table}`);
  for (let left = true; left;) {
    const rows = await query<Record<string, unknown>>(`fetch ${rowsAtOnce} from stored`);
    for (const row of rows) insert.run(...columns.map((name) => sqliteValue(row[name])));
    left = rows.length === rowsAtOnce;
  }
  await query("close stored");
}

/** Copies the rows of a file's table to the same table of a database. @throws BackupFault if text contains a NUL. */
export async function storeTable(
  { query }: Pick<PostgresSession, "query">,
  file: DatabaseSync,
  table: string,
): Promise<void> {
  const columns = listed(columnsOf(file, table));
  const sql = `insert into ${table} (${columns}) overriding system value
    select ${columns} from json_populate_recordset(null::${table}, $1)`;
  let rows: string[] = [];
  const send = async () => {
    await query(sql, [`[${rows.join()}]`]);
    rows = [];
  };
  for (const row of file.prepare(`select ${columns} from ${table}`).iterate()) {
    rows.push(JSON.stringify(row, (column, value) => jsonValue(`${table}.${column}`, value)));
    if (rows.length === rowsAtOnce) await send();
  }
  await send();
  // New rows get numbers after the highest one.
  const counted = await query<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_schema = current_schema() and table_name = $1 and is_identity = 'YES'`,
    [table],
  );
  for (const { name } of counted)
    await query(
      `select setval(pg_get_serial_sequence('${table}', '${name}'), max("${name}")) from ${table}`,
    );
}

const columnsOf = (file: DatabaseSync, table: string): string[] =>
  file
    .prepare("select name from pragma_table_info(?)")
    .all(table)
    .map(({ name }) => String(name));

const listed = (columns: readonly string[]) => columns.map((name) => `"${name}"`).join(", ");

/**
 * Returns a value for node:sqlite. Converts dates to text. Converts integers to BigInt, because numbers are bound as
 * REAL, and only integer columns convert REAL back.
 */
function sqliteValue(value: unknown): SQLInputValue {
  if (value instanceof Date) return value.toISOString();
  return Number.isSafeInteger(value) ? BigInt(value as number) : (value as SQLInputValue);
}

function jsonValue(column: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString("hex")}`;
  if (typeof value === "string" && value.includes("\0"))
    throw new BackupFault(
      `A value in ${column} of the backup contains a NUL character, which no command writes and PostgreSQL does not accept. Nothing was changed. Correct this value where the backup was made, and make a new backup.`,
    );
  return value;
}
