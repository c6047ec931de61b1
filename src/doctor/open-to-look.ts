/** Opens a store's file for reading without leaving anything behind, while others use it or when nobody does. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { immutableUri } from "#datasets/open-generation.ts";

/**
 * What `look` makes of the file.
 * @throws what node:sqlite throws.
 */
export function lookInto<R>(file: string, look: (database: DatabaseSync) => R): R {
  if (inUse(file)) return lookThrough(file, look);
  try {
    return lookThrough(immutableUri(file), look);
  } catch (error) {
    // Whoever began to use it meanwhile may have changed it under us.
    if (inUse(file)) return lookThrough(file, look);
    throw error;
  }
}

/** Without its write-ahead log nobody has the file open; reading it in the usual way would make one. */
const inUse = (file: string) => existsSync(`${file}-wal`);

function lookThrough<R>(place: string, look: (database: DatabaseSync) => R): R {
  const database = new DatabaseSync(place, { readOnly: true, timeout: 1000 });
  try {
    return look(database);
  } finally {
    database.close();
  }
}
