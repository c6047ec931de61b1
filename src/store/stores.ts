/** Opens the two stores: files of a data folder, or tables of one PostgreSQL database. */
import type { ControlTables } from "./control-tables.ts";
import { openStore, type Store } from "./open-store.ts";
import type { PostgresPlace } from "./postgres.ts";
import { controlShape, usageShape, type FileShape } from "./sqlite-file.ts";
import type { UsageTables } from "./usage-schema.ts";

export type ControlStore = Store<ControlTables>;
export type UsageStore = Store<UsageTables>;

interface StoreOptions {
  /** `DATABASE_URL`; null for a file of the data folder. */
  databaseUrl?: string | null;
  /** Longest wait for another writer of the file. */
  busyMilliseconds?: number;
}

/**
 * Opens accounts, people and keys. Creates and migrates a file if needed, but not a database: servers of another version
 * may be working with it.
 * @throws StoreFault as `openFile`; DomainError `conflict` if the schema of a database must be migrated.
 */
export const openControl = (dataDir: string, options: StoreOptions = {}): Promise<ControlStore> =>
  openEither(controlShape(dataDir, options.busyMilliseconds), options);

/** Opens usage of keys and requests. @throws as `openControl`. */
export const openUsage = (dataDir: string, options: StoreOptions = {}): Promise<UsageStore> =>
  openEither(usageShape(dataDir, options.busyMilliseconds), options);

async function openEither<Tables>(
  shape: FileShape,
  { databaseUrl = null }: StoreOptions,
): Promise<Store<Tables>> {
  if (databaseUrl === null) return openStore(shape);
  const { openReadyStore } = await import("./open-postgres.ts");
  return openReadyStore({ url: databaseUrl });
}

/**
 * Opens both in a database whose schema was checked before, with the same few connections. Connects with the first query,
 * and again after an outage. Closing one closes both.
 */
export async function openSharedStores(
  database: PostgresPlace,
): Promise<{ control: ControlStore; usage: UsageStore }> {
  const { openPostgresStore } = await import("./open-postgres.ts");
  const store = await openPostgresStore<ControlTables & UsageTables>(database);
  return { control: store as unknown as ControlStore, usage: store as unknown as UsageStore };
}
