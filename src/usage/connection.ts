/** The usage store as the writer thread has it: a bare connection, since to put each row through Kysely takes too long. */
import { DatabaseSync } from "node:sqlite";
import { usageFile } from "#store/files.ts";
import { openUsage } from "#store/stores.ts";

/**
 * Makes the file and brings its schema up to date, if need be.
 * @throws StoreFault as `openUsage` does, or what node:sqlite throws.
 */
export async function connectUsage(
  dataDir: string,
  busyMilliseconds: number,
): Promise<DatabaseSync> {
  const store = await openUsage(dataDir, busyMilliseconds);
  await store.close();
  const connection = new DatabaseSync(usageFile(dataDir), { timeout: busyMilliseconds });
  connection.exec("pragma synchronous = normal");
  return connection;
}
