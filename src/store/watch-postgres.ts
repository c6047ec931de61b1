/** Reads the keys of a control store in PostgreSQL, and is notified when they change. */
import { type KeyRow, keyRows } from "./control-watch.ts";
import { connectPostgres, placeName, type PostgresPlace } from "./postgres.ts";
import { refuseUnready } from "./postgres-schema.ts";
import { refuseUnfit } from "./refuse-unfit.ts";

/** One connection: a call waits for the one before it. Each rejects with a DomainError where the store cannot be read. */
export interface SharedKeySource {
  /** What changed since the count `since`: the accounts whose keys did, or null where it may be any. */
  changes(since: number): Promise<{ count: number; accounts: number[] | null }>;
  /** Keys in the order of their ids, from the first one after `after`. */
  list(after: string, max: number): Promise<KeyRow[]>;
  ofAccounts(accounts: readonly number[]): Promise<KeyRow[]>;
  /** Those of these SHA-256 that there are. */
  find(digests: readonly Uint8Array[]): Promise<KeyRow[]>;
  /** Whether the connection ended; then only another one helps. */
  readonly isOver: boolean;
  close(): void;
}

/** As the trigger of the schema names it. */
const channel = "gp_records_keys";
/** Rows of `key_change` that stand for no account. */
const anyAccount = -1;
const allChanges = 0;

/**
 * @param onChange called soon after somebody changed keys, mostly; a notification can be lost.
 * @throws StoreFault where it cannot be reached, DomainError `conflict` where its schema is behind or too new.
 */
export async function connectKeys(
  database: PostgresPlace,
  onChange: () => void,
): Promise<SharedKeySource> {
  const place = placeName(database.url);
  const session = await connectPostgres(database, { onNotice: onChange });
  try {
    await refuseUnfit(session, database);
    await refuseUnready(session, place);
    await session.query(`listen ${channel}`);
  } catch (error) {
    session.close();
    throw error;
  }
  return {
    async changes(since) {
      const rows = await session.query<{ account: number; count: number }>(
        "select account, count from key_change where account = $1 or count > $2",
        [allChanges, since],
      );
      const count = rows.find(({ account }) => account === allChanges)?.count ?? 0;
      const accounts = rows.map(({ account }) => account).filter((one) => one !== allChanges);
      // A count that went back is that of a database put in the place of the other.
      const mayBeAny = since < 0 || count < since || accounts.includes(anyAccount);
      return { count, accounts: mayBeAny ? null : accounts };
    },
    list: (after, max) =>
      session.query<KeyRow>(`${keyRows} where k.id > $1 order by k.id limit $2`, [after, max]),
    ofAccounts: (accounts) =>
      session.query<KeyRow>(`${keyRows} where k.account = any($1::integer[])`, [accounts]),
    find: (digests) =>
      session.query<KeyRow>(`${keyRows} where k.digest = any($1::bytea[])`, [digests]),
    get isOver() {
      return session.isOver;
    },
    close: session.close,
  };
}
