/** The writer thread's connection to the usage store: without Kysely, which is too slow for every row. */
import { DatabaseSync } from "node:sqlite";
import { usageFile } from "#store/files.ts";
import { openUsage } from "#store/stores.ts";

/**
 * Creates the file and migrates its schema if needed.
 * @throws StoreFault as `openUsage` does, or what node:sqlite throws.
 */
export async function connectUsage(
  dataDir: string,
  busyMilliseconds: number,
): Promise<DatabaseSync> {
  const store = await openUsage(dataDir, { busyMilliseconds });
  await store.close();
  const connection = new DatabaseSync(usageFile(dataDir), { timeout: busyMilliseconds });
  connection.exec("pragma synchronous = normal");
  return connection;
}
