/** Reads which migrations a store's file has had, for code that must not migrate it or load Kysely. */
import type { DatabaseSync } from "node:sqlite";
import { controlMigrations, usageMigrations } from "./migrations/index.ts";

/** Kysely's name for its table of migrations. */
const stepTable = "kysely_migration";

/** The migrations that this program knows, oldest first, by the name of the store's file. */
export const knownSteps = {
  "control.sqlite": Object.keys(controlMigrations),
  "usage.sqlite": Object.keys(usageMigrations),
} as const satisfies Record<string, readonly string[]>;

export type StoreName = keyof typeof knownSteps;

/** The migrations of a file, oldest first; none for one without tables. @throws what node:sqlite throws. */
export function schemaSteps(database: DatabaseSync): string[] {
  const table = database
    .prepare("select 1 from sqlite_schema where type = 'table' and name = ?")
    .get(stepTable);
  if (table === undefined) return [];
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
