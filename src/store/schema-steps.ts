/** The steps that the schema of each file goes through, oldest first, and which of them a file has had. A released step is never changed, only followed. */
import type { DatabaseSync } from "node:sqlite";
import { controlTableSql } from "./control-tables.ts";
import { sqliteUsageSchema } from "./usage-schema.ts";

export interface FileStep {
  name: string;
  sql: string;
}

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

const textOf = (statements: readonly string[]) => `${statements.join(";\n")};\n`;

/** By the name of the store's file. */
export const fileSteps = {
  "control.sqlite": [{ name: "0001-tables", sql: textOf([...controlTableSql, ...keyChanges]) }],
  "usage.sqlite": [{ name: "0001-tables", sql: textOf(sqliteUsageSchema) }],
} as const satisfies Record<string, readonly FileStep[]>;

export type StoreName = keyof typeof fileSteps;

export const storeNames = Object.keys(fileSteps) as readonly StoreName[];

/** Returns the names of the steps that this program knows, oldest first. */
export const knownSteps = (store: StoreName): string[] => fileSteps[store].map(({ name }) => name);

/** Where a file notes them. */
export const stepTable = "schema_step";

/**
 * Returns the steps of a file, oldest first: none for one without tables, one that nobody knows for tables without a note of their
 * steps. @throws what node:sqlite throws.
 */
export function schemaSteps(database: DatabaseSync): string[] {
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
  if (!tables.some(({ name }) => name === stepTable)) return tables.length === 0 ? [] : ["unnoted"];
  const rows = database.prepare(`select name from ${stepTable} order by name`).all();
  return rows.map(({ name }) => String(name));
}

/** Why a program cannot work with a schema: how a sentence goes on that begins with its place, and what to do. */
export interface Unfit {
  fault: string;
  remedy: string;
}

/**
 * Returns null where a program can work with a schema.
 * @param known the steps of the program, oldest first. A schema without the first of them is of a program before it.
 * @param taken steps that the schema has had; not those that a program need not know.
 */
export function unfitSchema(known: readonly string[], taken: readonly string[]): Unfit | null {
  if (taken.length > 0 && !taken.includes(known[0]!))
    return {
      fault: "was made by a gp-records that was never released, and this version does not read it",
      remedy:
        "Name another place with DATA_DIR or DATABASE_URL, import every source again, and make accounts and keys anew. `gp-records export` of that older program writes what is here into files.",
    };
  const unknown = taken.find((step) => !known.includes(step));
  if (unknown === undefined) return null;
  return {
    fault: `was written by a newer gp-records: its schema has '${unknown}', which this version does not know`,
    remedy: "Start the newer version, or restore a backup made before it.",
  };
}
