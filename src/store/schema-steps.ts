/** The schema steps of each file, oldest first. A released step is never changed, only followed by others. */
import type { DatabaseSync } from "node:sqlite";
import { addedSql, controlTableSql } from "./control-tables.ts";
import { sqliteUsageSchema } from "./usage-schema.ts";

export interface FileStep {
  name: string;
  sql: string;
}

/** Table and triggers that count changes to the three tables with facts about keys, so that no other code has to. */
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

/** Account whose keys a change to a row concerns; -1 for all accounts. */
const changedAccounts = { api_key: "new.account", account: "new.number", plan: "-1" };

/**
 * The same with a row for each account, as in PostgreSQL. Account 0 counts all changes. An account's row has the count
 * of its keys' last change, and account -1 the count of the last change that may concern all accounts.
 */
const keyChangesByAccount = [
  "drop table key_change",
  "create table key_change (account integer primary key, count integer not null)",
  "insert into key_change values (0, 0), (-1, 0)",
  ...Object.entries(changedAccounts).flatMap(([table, changed]) =>
    ["insert", "update", "delete"].flatMap((event) => [
      `drop trigger key_change_${table}_${event}`,
      `create trigger key_change_${table}_${event} after ${event} on ${table} begin
        update key_change set count = count + 1 where account = 0;
        insert into key_change select ${event === "delete" ? "-1" : changed}, count from key_change where account = 0
          on conflict (account) do update set count = excluded.count;
      end`,
    ]),
  ),
];

const textOf = (statements: readonly string[]) => `${statements.join(";\n")};\n`;

/** Schema steps of each store, by file name. */
export const fileSteps = {
  "control.sqlite": [
    { name: "0001-tables", sql: textOf([...controlTableSql, ...keyChanges]) },
    { name: "0002-followed-views", sql: textOf(addedSql.followedViews) },
    { name: "0003-key-changes-by-account", sql: textOf(keyChangesByAccount) },
    { name: "0004-suppressions", sql: textOf(addedSql.suppressions) },
    { name: "0005-syncs", sql: textOf(addedSql.syncs) },
    { name: "0006-suppressed-gps", sql: textOf(addedSql.suppressedGps) },
  ],
  "usage.sqlite": [{ name: "0001-tables", sql: textOf(sqliteUsageSchema) }],
} as const satisfies Record<string, readonly FileStep[]>;

export type StoreName = keyof typeof fileSteps;

export const storeNames = Object.keys(fileSteps) as readonly StoreName[];

/** Returns the names of the steps that this program knows, oldest first. */
export const knownSteps = (store: StoreName): string[] => fileSteps[store].map(({ name }) => name);

/** Table that lists the steps applied to a file. */
export const stepTable = "schema_step";

/**
 * Returns the steps applied to a file, oldest first. Returns none for a file without tables, and an unknown step for
 * tables without a list of steps.
 * @throws whatever node:sqlite throws.
 */
export function schemaSteps(database: DatabaseSync): string[] {
  const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
  if (!tables.some(({ name }) => name === stepTable)) return tables.length === 0 ? [] : ["unnoted"];
  const rows = database.prepare(`select name from ${stepTable} order by name`).all();
  return rows.map(({ name }) => String(name));
}

/**
 * Reason why this program cannot use a schema, and the remedy. `fault` completes a sentence that begins with a place.
 */
export interface Unfit {
  fault: string;
  remedy: string;
}

/**
 * Returns the reason why this program cannot use a schema, or null if it can.
 * @param known the program's steps, oldest first. A schema that has steps, but not the first one, comes from an earlier
 *   program.
 * @param taken steps applied to the schema, without those that a program need not know.
 */
export function unfitSchema(known: readonly string[], taken: readonly string[]): Unfit | null {
  if (taken.length > 0 && !taken.includes(known[0]!))
    return {
      fault:
        "was made by a version of gp-records that was never released, and this version cannot read it",
      remedy:
        "To keep a copy of the present data, write it into files with `gp-records export` of that older program. Then name another place with DATA_DIR or DATABASE_URL, import every source again, and create accounts and keys again.",
    };
  const unknown = taken.find((step) => !known.includes(step));
  if (unknown === undefined) return null;
  return {
    fault: `was written by a newer version of gp-records: its schema has '${unknown}', which this version does not know`,
    remedy: "Start the newer version, or restore a backup made before the update to it.",
  };
}
