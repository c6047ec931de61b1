/** Opens the two stores: files of a data folder, of which PostgreSQL can take the place of control; and says how durable each is. */
import type { ControlTables } from "./control-tables.ts";
import { controlFile, usageFile } from "./files.ts";
import { controlMigrations, usageMigrations } from "./migrations/index.ts";
import { openStore, type Store } from "./open-store.ts";
import type { PostgresPlace } from "./postgres.ts";
import type { UsageTables } from "./usage-tables.ts";

export type ControlStore = Store<ControlTables>;
export type UsageStore = Store<UsageTables>;

const busyMillisecondsDefault = 5000;

interface ControlOptions {
  /** `DATABASE_URL`; null for a file of the data folder. */
  databaseUrl?: string | null;
  /** How long to wait for another writer of the file. */
  busyMilliseconds?: number;
}

/**
 * Accounts, people and keys. A committed revocation survives a power failure. A file is created and migrated if needed; a
 * database is not, as servers of another version may be working with it.
 * @throws StoreFault as `openStore` does; DomainError `conflict` for a database whose schema has to be migrated.
 */
export async function openControl(
  dataDir: string,
  { databaseUrl = null, busyMilliseconds = busyMillisecondsDefault }: ControlOptions = {},
): Promise<ControlStore> {
  if (databaseUrl !== null) {
    const { openReadyStore } = await import("./open-postgres.ts");
    return openReadyStore({ url: databaseUrl });
  }
  return openStore({
    file: controlFile(dataDir),
    migrations: controlMigrations,
    synchronous: "full",
    busyMilliseconds,
    erasesDeleted: true,
  });
}

/** The same in a database whose schema was looked at before. It connects with the first query, and again after an outage. */
export async function openSharedControl(database: PostgresPlace): Promise<ControlStore> {
  const { openPostgresStore } = await import("./open-postgres.ts");
  return openPostgresStore(database);
}

/**
 * Usage of keys and requests. A power failure may lose the last seconds of it.
 * @throws StoreFault as `openStore` does.
 */
export function openUsage(
  dataDir: string,
  busyMilliseconds = busyMillisecondsDefault,
): Promise<UsageStore> {
  return openStore({
    file: usageFile(dataDir),
    migrations: usageMigrations,
    synchronous: "normal",
    busyMilliseconds,
    returnsFreePages: true,
  });
}
