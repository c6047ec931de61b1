/** Compares a store's file that came from elsewhere with the schema of its steps. */
import { DatabaseSync } from "node:sqlite";
import { fileSteps, type StoreName } from "./schema-steps.ts";
import { takeSteps } from "./sqlite-file.ts";

interface Column {
  name: string;
  type: string;
}

/**
 * Returns the first table, index, trigger or view that is missing, different, or made by no step, as the end of a sentence
 * that begins with the file. Returns undefined if there is none.
 * @param database file that has taken every step.
 */
export function schemaFault(database: DatabaseSync, store: StoreName): string | undefined {
  const model = new DatabaseSync(":memory:");
  try {
    takeSteps(model, fileSteps[store]);
    const expected = objectsIn(model);
    const found = objectsIn(database);
    for (const { type, name, sql } of expected) {
      const same = found.find((one) => one.type === type && one.name === name);
      if (same === undefined) return `has no ${type} "${name}"`;
      if (same.sql !== sql) return `has another ${type} "${name}" than this version makes`;
    }
    const other = found.find(({ name }) => !expected.some((one) => one.name === name));
    return other && `has a ${other.type} "${other.name}" that no gp-records made`;
  } finally {
    model.close();
  }
}

/** Lists all objects, except SQLite's own, which may differ between its versions. */
const objectsIn = (database: DatabaseSync) =>
  database
    .prepare(
      `select type, name, sql from sqlite_schema where sql is not null and not (type = 'table'
         and name glob 'sqlite_stat?')`,
    )
    .all() as unknown as { type: string; name: string; sql: string }[];

const columnsOf = (database: DatabaseSync, table: string) =>
  database
    .prepare("select name, type from pragma_table_xinfo(?)")
    .all(table) as unknown as Column[];

/** Storage class for each column type of the steps; the types themselves enforce nothing. */
const storageOf: Readonly<Record<string, string>> = {
  text: "text",
  integer: "integer",
  smallint: "integer",
  bigint: "integer",
  real: "real",
  bytea: "blob",
};

/**
 * Returns a value of another type than its column, or a reference to a missing row, as the end of a sentence that begins
 * with the file. Returns undefined if there is none. Reads every row, so it is for small databases.
 * @param database file without a `schemaFault`.
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
