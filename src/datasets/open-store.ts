/** Opens the datasets of an installation for commands, wherever they are kept. */
import type { OpenStore, StoreOrder } from "./store.ts";

/**
 * Opens the store of an installation. Only a database loads the driver of PostgreSQL.
 * @param databaseUrl `DATABASE_URL`; null for datasets in the folder.
 * @throws DatasetFault if there is a database and the folder has datasets of its own.
 */
export async function openStore(order: StoreOrder, databaseUrl: string | null): Promise<OpenStore> {
  if (databaseUrl === null) return (await import("./folder-store.ts")).openFolderStore(order);
  return (await import("./postgres.ts")).openPostgresStore(order, databaseUrl);
}
