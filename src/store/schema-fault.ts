/** Compares a store's file with what its migrations make, for files that came from elsewhere. */
import { DatabaseSync } from "node:sqlite";
import { Kysely } from "kysely";
import { controlMigrations, usageMigrations } from "./migrations/index.ts";
import { migrate, type Migrations, nodeSqliteDialect } from "./open-store.ts";
import type { StoreName } from "./schema-steps.ts";

const migrations: Readonly<Record<StoreName, Migrations>> = {
  "control.sqlite": controlMigrations,
  "usage.sqlite": usageMigrations,
};

interface Column {
  name: string;
  type: string;
  notnull: number;
  pk: number;
}

/**
 * @param database after every migration.
 * @returns the end of a sentence that begins with the file: the first table, column, index or trigger that is missing or
 *   different; undefined where there is none. Tables that no migration makes are ignored.
 */
export async function schemaFault(
  database: DatabaseSync,
  store: StoreName,
): Promise<string | undefined> {
  const model = new DatabaseSync(":memory:");
  const kysely = new Kysely<unknown>({ dialect: nodeSqliteDialect(model, ":memory:") });
  try {
    await migrate(kysely, migrations[store]);
    for (const { type, name } of objectsIn(model)) {
      if (!objectsIn(database).some((one) => one.type === type && one.name === name))
        return `has no ${type} "${name}"`;
      if (type !== "table") continue;
      const fault = columnFault(columnsOf(model, name), columnsOf(database, name));
      if (fault !== undefined) return `has a table "${name}" ${fault}`;
    }
    return undefined;
  } finally {
    await kysely.destroy();
  }
}

/** Without those of SQLite and Kysely, which may differ between their versions. */
const objectsIn = (database: DatabaseSync) =>
  database
    .prepare(
      "select type, name from sqlite_schema where name not glob 'sqlite_*' and name not glob 'kysely_*'",
    )
    .all() as unknown as { type: string; name: string }[];

const columnsOf = (database: DatabaseSync, table: string) =>
  database
    .prepare(`select name, type, "notnull", pk from pragma_table_xinfo(?)`)
    .all(table) as unknown as Column[];

function columnFault(expected: readonly Column[], found: readonly Column[]): string | undefined {
  for (const column of expected) {
    const same = found.find(({ name }) => name === column.name);
    if (same === undefined) return `without the column "${column.name}"`;
    if (JSON.stringify(same) !== JSON.stringify(column))
      return `whose column "${column.name}" is another one`;
  }
  const other = found.find(({ name }) => !expected.some((column) => column.name === name));
  return other && `with a column "${other.name}" that no gp-records made`;
}

/** What SQLite stores for each column type of the migrations; the types themselves enforce nothing. */
const storageOf: Readonly<Record<string, string>> = {
  text: "text",
  integer: "integer",
  bigint: "integer",
  real: "real",
  bytea: "blob",
};

/**
 * Reads every row, so it is for small databases.
 * @param database without a `schemaFault`.
 * @returns the end of a sentence that begins with the file: a value of another type than its column, or a reference to
 *   a row that is not there.
 */
export function valueFault(database: DatabaseSync): string | undefined {
  for (const { name: table } of objectsIn(database).filter(({ type }) => type === "table"))
    for (const { name, type } of columnsOf(database, table)) {
      const storage = storageOf[type.toLowerCase()];
      if (storage === undefined) continue;
      const wrong = database
        .prepare(
          `select 1 from ${quoted(table)} where typeof(${quoted(name)}) not in (?, 'null') limit 1`,
        )
        .get(storage);
      if (wrong !== undefined) return `has a value in "${table}"."${name}" that is no ${type}`;
    }
  const lost = database.prepare("pragma foreign_key_check").get();
  return lost && `has a row in "${String(lost["table"])}" that refers to none`;
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
