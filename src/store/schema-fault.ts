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
 * @returns the end of a sentence that begins with the file: the first table, column, index, trigger or view that is missing,
 *   different, or made by no migration; undefined where there is none.
 */
export async function schemaFault(
  database: DatabaseSync,
  store: StoreName,
): Promise<string | undefined> {
  const model = new DatabaseSync(":memory:");
  const kysely = new Kysely<unknown>({ dialect: nodeSqliteDialect(model, ":memory:") });
  try {
    await migrate(kysely, migrations[store]);
    const expected = objectsIn(model);
    const found = objectsIn(database);
    for (const { type, name, sql } of expected) {
      const same = found.find((one) => one.type === type && one.name === name);
      if (same === undefined) return `has no ${type} "${name}"`;
      const fault =
        type === "table" && columnFault(columnsOf(model, name), columnsOf(database, name));
      if (fault) return `has a table "${name}" ${fault}`;
      if (same.sql !== sql) return `has another ${type} "${name}" than this version makes`;
    }
    const other = found.find(({ name }) => !expected.some((one) => one.name === name));
    return other && `has a ${other.type} "${other.name}" that no gp-records made`;
  } finally {
    await kysely.destroy();
  }
}

/** Lists all but what SQLite and Kysely make for themselves, which may differ between their versions. */
const objectsIn = (database: DatabaseSync) =>
  database
    .prepare(
      `select type, name, sql from sqlite_schema where sql is not null and not (type = 'table'
         and (name glob 'sqlite_stat?' or name in ('kysely_migration', 'kysely_migration_lock')))`,
    )
    .all() as unknown as { type: string; name: string; sql: string }[];

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
  smallint: "integer",
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
