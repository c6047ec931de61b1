/** Brings a store's schema up to the program's, and refuses one that is ahead of it. */
import type { Kysely } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { stepTable } from "./schema-steps.ts";
import { StoreFault } from "./store-fault.ts";

/** By name; names sort in the order of time. */
export type Migrations = Readonly<Record<string, Migration>>;

/**
 * Reads which steps the store has seen; writes nothing.
 * @returns whether steps are missing.
 * @throws StoreFault `conflict` if the store has seen a step this program does not know.
 */
export async function isBehind(
  database: Kysely<any>,
  migrations: Migrations,
  file: string,
): Promise<boolean> {
  const taken = await stepsTaken(database);
  const unknown = taken.find((name) => !Object.hasOwn(migrations, name));
  if (unknown !== undefined)
    throw new StoreFault(
      "conflict",
      `${file} was written by a newer gp-records: its schema has '${unknown}', which this version does not know. Nothing was changed. Start the newer version, or restore a backup made before it.`,
    );
  return taken.length < Object.keys(migrations).length;
}

/** Takes the missing steps in one transaction: all of them or, if one fails or the process dies, none. */
export async function migrate(database: Kysely<any>, migrations: Migrations): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const provider = { getMigrations: async () => ({ ...migrations }) };
    const { error } = await new Migrator({ db: transaction, provider }).migrateToLatest();
    if (error !== undefined) throw error;
  });
}

async function stepsTaken(database: Kysely<any>): Promise<string[]> {
  const tables = await database.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === stepTable)) return [];
  const rows = await database.selectFrom(stepTable).select("name").execute();
  return rows.map((row) => String(row["name"]));
}
