/** Reads the keys of a control store in PostgreSQL, and is notified when they change. */
import type { SyncTable } from "./control-tables.ts";
import { allChanges, anyAccount, type KeyRow, keyRows, syncRows } from "./control-watch.ts";
import { refuseUnready, refuseUnfit } from "./postgres-schema.ts";
import { connectPostgres } from "./postgres.ts";

export type SharedKeySource = Awaited<ReturnType<typeof connectKeys>>;

/** Notification channel, as named in the schema's trigger. */
const channel = "gp_records_keys";
/** SQL that reads accounts' rows only if something has changed, because it runs for each unknown key. */
const changesAfter = `
  select account, count from key_change where account = $1
  union all
  select account, count from key_change
  where account <> $1 and count > $2 and (select count from key_change where account = $1) > $2`;

/**
 * Connects a reader of keys. It runs one call at a time. All its calls but `syncs` reject with a DomainError if the
 * store cannot be read.
 * @param onChange called soon after keys change; a notification can be lost.
 * @throws StoreFault if the database cannot be reached or used, DomainError `conflict` if its schema is behind or too
 *   new.
 */
export async function connectKeys(url: string, onChange: () => void) {
  const session = await connectPostgres(url, { onNotice: onChange });
  let syncs: SyncTable[] = [];
  const readSyncs = async () => {
    syncs = await session.query<SyncTable>(syncRows).catch(() => syncs);
  };
  try {
    await refuseUnfit(session, url);
    await refuseUnready(session, url);
    await session.query(`listen ${channel}`);
    await readSyncs();
  } catch (error) {
    session.close();
    throw error;
  }
  return {
    /**
     * Returns the present count of changes, and the accounts whose keys changed after the count `since`. Returns null
     * for the accounts if the keys of all accounts may have changed.
     */
    async changes(since: number): Promise<{ count: number; accounts: number[] | null }> {
      const rows = await session.query<{ account: number; count: number }>(changesAfter, [
        allChanges,
        since,
      ]);
      const count = rows.find(({ account }) => account === allChanges)?.count ?? 0;
      const accounts = rows.map(({ account }) => account).filter((one) => one !== allChanges);
      // A lower count comes from another database that has replaced the earlier one.
      const mayBeAny = since < 0 || count < since || accounts.includes(anyAccount);
      return { count, accounts: mayBeAny ? null : accounts };
    },
    /** Lists up to `max` keys in the order of their ids, starting after the id `after`. */
    list: (after: string, max: number) =>
      session.query<KeyRow>(`${keyRows} where k.id > $1 order by k.id limit $2`, [after, max]),
    ofAccounts: (accounts: readonly number[]) =>
      session.query<KeyRow>(`${keyRows} where k.account = any($1::integer[])`, [accounts]),
    /** Lists the last syncs of sources as of the previous read, and starts another read. */
    syncs(): SyncTable[] {
      void readSyncs();
      return syncs;
    },
    /** True once the connection has ended. The reader cannot be used again. */
    get isOver(): boolean {
      return session.isOver;
    },
    close: session.close,
  };
}
