/** Reads which steps the schema of a store's file has taken, through any connection; for whoever must not migrate it. */
import type { DatabaseSync } from "node:sqlite";
import { controlMigrations, usageMigrations } from "./migrations/index.ts";

/** Kysely's own name for it; written here too, because a server does not load Kysely. */
export const stepTable = "kysely_migration";

/** The steps this program knows, oldest first, by the name of the store's file. */
export const knownSteps = {
  "control.sqlite": Object.keys(controlMigrations),
  "usage.sqlite": Object.keys(usageMigrations),
} as const satisfies Record<string, readonly string[]>;

export type StoreName = keyof typeof knownSteps;

/** Oldest first; none for a file without tables. @throws what node:sqlite throws where the file cannot be read. */
export function schemaSteps(database: DatabaseSync): string[] {
  const table = database
    .prepare("select 1 from sqlite_schema where type = 'table' and name = ?")
    .get(stepTable);
  if (table === undefined) return [];
  const rows = database.prepare(`select name from ${stepTable} order by name`).all();
  return rows.map(({ name }) => String(name));
}

/** The first step that only a newer program knows. */
export const unknownStep = (store: StoreName, steps: readonly string[]): string | undefined =>
  steps.find((step) => !(knownSteps[store] as readonly string[]).includes(step));
