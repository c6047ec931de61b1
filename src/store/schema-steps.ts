/** Reads which migrations a store's file has had, for code that must not migrate it or load Kysely. */
import type { DatabaseSync } from "node:sqlite";
import { controlMigrations, usageMigrations } from "./migrations/index.ts";

/** Kysely's name for its table of migrations. */
export const stepTable = "kysely_migration";

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

/** The first migration that only a newer program knows. */
export const unknownStep = (store: StoreName, steps: readonly string[]): string | undefined =>
  steps.find((step) => !(knownSteps[store] as readonly string[]).includes(step));
