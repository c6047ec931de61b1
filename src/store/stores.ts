/** Opens the two stores, files of a data folder or tables of one PostgreSQL database, and says how durable each is. */
import type { ControlTables } from "./control-tables.ts";
import { controlFile, usageFile } from "./files.ts";
import { controlMigrations, usageMigrations } from "./migrations/index.ts";
import { openStore, type Store } from "./open-store.ts";
import type { PostgresPlace } from "./postgres.ts";
import type { UsageTables } from "./usage-tables.ts";

export type ControlStore = Store<ControlTables>;
export type UsageStore = Store<UsageTables>;

const busyMillisecondsDefault = 5000;

interface StoreOptions {
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
  { databaseUrl = null, busyMilliseconds = busyMillisecondsDefault }: StoreOptions = {},
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

/**
 * Both in a database whose schema was looked at before, with the same few connections. It connects with the first query, and
 * again after an outage. To close one of them closes both.
 */
export async function openSharedStores(
  database: PostgresPlace,
): Promise<{ control: ControlStore; usage: UsageStore }> {
  const { openPostgresStore } = await import("./open-postgres.ts");
  const store = await openPostgresStore<ControlTables & UsageTables>(database);
  return { control: store as unknown as ControlStore, usage: store as unknown as UsageStore };
}

/**
 * Usage of keys and requests. A power failure may lose the last seconds of it.
 * @throws as `openControl`.
 */
export async function openUsage(
  dataDir: string,
  { databaseUrl = null, busyMilliseconds = busyMillisecondsDefault }: StoreOptions = {},
): Promise<UsageStore> {
  if (databaseUrl !== null) {
    const { openReadyStore } = await import("./open-postgres.ts");
    return openReadyStore({ url: databaseUrl });
  }
  return openStore({
    file: usageFile(dataDir),
    migrations: usageMigrations,
    synchronous: "normal",
    busyMilliseconds,
    returnsFreePages: true,
  });
}
