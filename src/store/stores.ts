/** The two stores of a data folder, and how durable each one is. */
import type { ControlTables } from "./control-tables.ts";
import { controlFile, usageFile } from "./files.ts";
import { controlMigrations, usageMigrations } from "./migrations/index.ts";
import { openStore, type Store } from "./open-store.ts";
import type { UsageTables } from "./usage-tables.ts";

export type ControlStore = Store<ControlTables>;
export type UsageStore = Store<UsageTables>;

const busyMillisecondsDefault = 5000;

/**
 * Accounts, people and keys. A committed revocation survives a power failure.
 * @throws StoreFault as `openStore` does.
 */
export function openControl(
  dataDir: string,
  busyMilliseconds = busyMillisecondsDefault,
): Promise<ControlStore> {
  return openStore({
    file: controlFile(dataDir),
    migrations: controlMigrations,
    synchronous: "full",
    busyMilliseconds,
    erasesDeleted: true,
  });
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
