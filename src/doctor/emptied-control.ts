/** Has a database of keys lost what was in it? It holds no account, though keys were used here. */
import type { DatabaseSync } from "node:sqlite";
import { dirname, join } from "node:path";
import { fail, type Finding, warn } from "./check.ts";
import { namesIn } from "./kept-files.ts";
import { lookInto } from "./open-to-look.ts";

const mendBy = (restore: string) =>
  `${restore}; revoke again what was revoked since. Without a backup: gp-records accounts create and keys create make new ones.`;

/**
 * Null where it holds an account, or none was ever needed.
 * @param database the one of the file, of a schema that this program knows.
 */
export function emptiedControl(
  database: DatabaseSync,
  file: string,
  steps: readonly string[],
): Finding | null {
  const dataDir = dirname(file);
  if (steps.length === 0)
    return hasServed(dataDir)
      ? fail(
          `${file} is empty, though a server has run on this folder: no account is in it, so no key works`,
          mendBy("gp-records restore FILE --replace --undo-revocations"),
        )
      : null;
  return hasRow(database, "account") || !hasTotals(dataDir)
    ? null
    : warn(
        `${file} holds no account, so no key works, though usage.sqlite knows of requests with one`,
        mendBy("gp-records restore FILE --replace"),
      );
}

/** A server makes both of them once it has made the database of keys. */
const hasServed = (dataDir: string) =>
  namesIn(dataDir).includes("usage.sqlite") || namesIn(join(dataDir, "counts")).length > 0;

/** What is wrong with that database is the matter of a check of its own. */
function hasTotals(dataDir: string): boolean {
  try {
    return lookInto(join(dataDir, "usage.sqlite"), (usage) => hasRow(usage, "usage_hour"));
  } catch {
    return false;
  }
}

const hasRow = (database: DatabaseSync, table: "account" | "usage_hour") =>
  database.prepare(`select 1 from ${table} limit 1`).get() !== undefined;
