/** Prepares the store of accounts and keys for a server, which only reads it. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { controlFile } from "./files.ts";
import { otherThanFile } from "./plain-file.ts";
import { knownSteps, schemaSteps } from "./schema-steps.ts";
import { refuseOldSqlite } from "./sqlite-version.ts";

/** @throws StoreFault as `openControl` does. */
export async function readyControl(dataDir: string): Promise<void> {
  refuseOldSqlite();
  if (isReady(controlFile(dataDir))) return;
  // The code that creates and migrates a store takes longer to load than a server takes to start.
  const { openControl } = await import("./stores.ts");
  await (await openControl(dataDir)).close();
}

/** Whether it has exactly the known migrations and the write-ahead log; `openControl` reports what is wrong otherwise. */
function isReady(file: string): boolean {
  if (!existsSync(file) || otherThanFile(file) !== null) return false;
  let connection: DatabaseSync | undefined;
  try {
    connection = new DatabaseSync(file, { readOnly: true, timeout: 0 });
    const { journal_mode } = connection.prepare("pragma journal_mode").get()!;
    const steps = schemaSteps(connection);
    return journal_mode === "wal" && String(steps) === String(knownSteps["control.sqlite"]);
  } catch {
    return false;
  } finally {
    connection?.close();
  }
}
