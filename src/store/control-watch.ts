/** Reads the keys in a control store's file, and notices changes by others. Never writes or waits for a lock. */
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import {
  type AccountTable,
  type ApiKeyTable,
  defaultPlan,
  type SyncTable,
} from "./control-tables.ts";
import { sqliteFault, StoreFault } from "./store-fault.ts";

/** A key with facts from its account and plan. */
export type KeyRow = Pick<
  ApiKeyTable,
  "id" | "digest" | "hint" | "is_demo" | "expires_at" | "revoked_at"
> &
  Pick<AccountTable, "per_minute" | "per_hour" | "per_day" | "suspended_at"> & {
    account_number: number;
    /** Right to read changes: 1 or 0. */
    changes: number;
  };

export type KeySource = ReturnType<typeof watchControl>;

/** Returns SQL for a quota: the account's, else its plan's, else the default plan's. The subquery runs at most once. */
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

export const syncRows = "select source, succeeded_at from sync";

/** Special account numbers in `key_change`: for changes that may concern any account, and for all changes. */
export const anyAccount = -1;
export const allChanges = 0;

// Time between checks that the file is still the same, because statements do not fail after it is replaced.
const fileCheckMilliseconds = 1000;

/**
 * Opens a reader of keys. All its calls but `syncs` throw a DomainError if the store cannot be read. Later calls try
 * again.
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
  // This number changes when another connection commits: https://www.sqlite.org/pragma.html#pragma_data_version
  const dataVersion = connection.prepare("pragma data_version");
  // Read in each turn of the event loop that has requests. Arrays are read twice as fast as objects.
  dataVersion.setReturnArrays(true);
  const prepare = (query: string) => naming(() => connection.prepare(query));
  const all = prepare(keyRows);
  const ofAccounts = prepare(`${keyRows} where k.account in (select value from json_each(?))`);
  const syncs = prepare(syncRows);
  const ofDigest = prepare(`${keyRows} where k.digest = ?`);
  // Key changes have their own count, because sessions, the audit log and the rest change much more often.
  const keyChanges = prepare(`select count from key_change where account = ${allChanges}`);
  const changed = prepare(
    `select account from key_change where account <> ${allChanges} and count > ?`,
  );
  let dataVersionSeen: unknown;
  let count = 0;
  let fileCheckedAt = now();

  const checkFile = () => {
    if (Math.abs(now() - fileCheckedAt) < fileCheckMilliseconds) return;
    // The new file is not read, because the old file's write-ahead log may lie beside it, and SQLite would apply it.
    if (fileNumberOf(file) !== fileNumber)
      throw new StoreFault(
        "unusable",
        `${file} was replaced by another file, which is not read. Restart the server to read the new file.`,
      );
    fileCheckedAt = now();
  };

  return {
    /** Returns the present count of changes to keys, accounts and plans. */
    count: (): number =>
      naming(() => {
        checkFile();
        const [version] = dataVersion.get() as unknown as [number];
        if (version !== dataVersionSeen) count = Number(keyChanges.get()!["count"]);
        dataVersionSeen = version;
        return count;
      }),
    all: (): KeyRow[] => naming(() => all.all() as unknown as KeyRow[]),
    /**
     * Returns the keys of the accounts whose keys changed after the count `since`. `mayBeAny` is true if keys of any
     * account may have changed.
     */
    changes: (since: number): { keys: KeyRow[]; mayBeAny: boolean } =>
      naming(() => {
        const accounts = changed.all(since).map(({ account }) => account);
        const keys = ofAccounts.all(JSON.stringify(accounts)) as unknown as KeyRow[];
        return { keys, mayBeAny: accounts.includes(anyAccount) };
      }),
    find: (digest: Uint8Array): KeyRow | undefined =>
      naming(() => ofDigest.get(digest) as unknown as KeyRow | undefined),
    /** Lists the last syncs of sources; none while the store cannot be read. */
    syncs(): SyncTable[] {
      try {
        return syncs.all() as unknown as SyncTable[];
      } catch {
        return [];
      }
    },
    close: () => connection.close(),
  };
}

function fileNumberOf(file: string): number {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined)
    throw new StoreFault(
      "unusable",
      `${file} is missing. Move it back, or stop the server and restore a backup with \`gp-records restore\`.`,
    );
  return found.ino;
}
