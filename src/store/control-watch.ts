/**
 * Reads the keys in a control store's file, and detects changes by other connections. Never waits for a lock and never
 * writes.
 */
import { statSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { type AccountTable, type ApiKeyTable, defaultPlan } from "./control-tables.ts";
import { StoreFault } from "./domain-error.ts";
import { sqliteFault } from "./store-fault.ts";

/** A key with facts from its account and plan. */
export type KeyRow = Pick<
  ApiKeyTable,
  "id" | "digest" | "hint" | "is_demo" | "expires_at" | "revoked_at"
> &
  Pick<AccountTable, "per_minute" | "per_hour" | "per_day" | "suspended_at"> & {
    account_number: number;
    /** Right to read changes, from its plan: 1 or 0. */
    changes: number;
  };

export type KeySource = ReturnType<typeof watchControl>;

/**
 * Returns SQL for a quota: the account's own, else its plan's, else the default plan's. The subquery runs at most once
 * per query.
 */
const quota = (column: "per_minute" | "per_hour" | "per_day") =>
  `coalesce(a.${column}, p.${column}, (select ${column} from plan where name = '${defaultPlan}')) as ${column}`;

export const keyRows = `
  select k.id, k.digest, k.hint, k.is_demo, k.expires_at, k.revoked_at,
         a.number as account_number,
         ${quota("per_minute")}, ${quota("per_hour")}, ${quota("per_day")},
         coalesce(p.changes, (select changes from plan where name = '${defaultPlan}'), 1) as changes,
         coalesce(a.closed_at, a.suspended_at) as suspended_at
  from api_key k join account a on a.number = k.account
  left join plan p on p.name = a.plan`;

// Time between checks that the file is still the same. No statement fails if the file is removed or replaced.
const fileCheckMilliseconds = 1000;

/**
 * Opens a reader of keys. Each of its calls throws a DomainError if the store cannot be read. Later calls try again.
 * @param now returns milliseconds; only differences matter.
 * @throws StoreFault if the store is missing or cannot be read.
 */
export function watchControl(file: string, now: () => number) {
  const fileNumber = fileNumberOf(file);
  const naming = <T>(read: () => T): T => {
    try {
      return read();
    } catch (error) {
      throw sqliteFault(error, file);
    }
  };
  const connection = naming(() => new DatabaseSync(file, { readOnly: true, timeout: 0 }));
  // Changes when another connection commits: https://www.sqlite.org/pragma.html#pragma_data_version
  const dataVersion = connection.prepare("pragma data_version");
  // Arrays are read about a quarter faster than objects.
  dataVersion.setReturnArrays(true);
  const prepare = (where: string) => naming(() => connection.prepare(`${keyRows} ${where}`));
  const listed = prepare("where k.id > ? order by k.id limit ?");
  const found = prepare("where k.digest = ?");
  // Key changes have their own count, because sessions, the audit log and the rest change much more often.
  const keyChanges = naming(() => connection.prepare("select count from key_change"));
  keyChanges.setReturnArrays(true);
  const oneOf = (statement: StatementSync) => (statement.get() as unknown as [unknown])[0];
  let dataVersionSeen: unknown;
  let keyChangesSeen: unknown;
  let fileCheckedAt = now();

  const checkFile = () => {
    if (Math.abs(now() - fileCheckedAt) < fileCheckMilliseconds) return;
    // The new file is not read, because the old file's write-ahead log may lie beside it, and SQLite would apply it.
    if (fileNumberOf(file) !== fileNumber)
      throw new StoreFault(
        "unusable",
        `${file} was replaced by another file. Restart the server to read that one.`,
      );
    fileCheckedAt = now();
  };

  return {
    /** Returns a version that differs after each change to keys, accounts or plans by another connection. */
    version: (): unknown =>
      naming(() => {
        checkFile();
        const version = oneOf(dataVersion);
        if (version !== dataVersionSeen) keyChangesSeen = oneOf(keyChanges);
        dataVersionSeen = version;
        return keyChangesSeen;
      }),
    /** Lists up to `max` keys in the order of their ids, starting after the id `after`. */
    list: (after: string, max: number) =>
      naming(() => listed.all(after, max) as unknown as KeyRow[]),
    /** Returns the key with this SHA-256. */
    find: (digest: Uint8Array) => naming(() => found.get(digest) as unknown as KeyRow | undefined),
    close: () => connection.close(),
  };
}

function fileNumberOf(file: string): number {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined)
    throw new StoreFault(
      "unusable",
      `${file} is missing. Restore it from a backup, or check DATA_DIR.`,
    );
  return found.ino;
}
