/** Opens the two stores: files in a data folder, or tables in one PostgreSQL database. Each has a typed connection. */
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  PostgresDialect,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  sql,
  type Transaction,
} from "kysely";
import type { ControlTables } from "./control-tables.ts";
import { type FileShape, openFile, shapeOf } from "./sqlite-file.ts";
import { sqliteFault } from "./store-fault.ts";
import type { UsageTables } from "./usage-schema.ts";

export interface Store<Tables> {
  /** Connection for reading. */
  readonly database: Kysely<Tables>;
  /**
   * Runs a transaction that takes the write lock before it reads, so that facts it has read stay true until it commits.
   * Inside `work`, use only the transaction: `database` may wait for it to end.
   * @throws StoreFault `busy` if another process holds the lock too long.
   */
  write<R>(work: (transaction: Transaction<Tables>) => Promise<R>): Promise<R>;
  close(): Promise<void>;
}

export type ControlStore = Store<ControlTables>;
export type UsageStore = Store<UsageTables>;

interface StoreOptions {
  /** `DATABASE_URL`; null for a file in the data folder. */
  databaseUrl?: string | null;
  /** Longest wait for another writer of the file, in ms. */
  busyMilliseconds?: number;
}

/**
 * Opens the control store, which holds accounts, people and keys. Creates and migrates a file if needed, but does not
 * migrate a database, because servers of another version may be using it.
 * @throws as `openFile` does for a file; for a database, DomainError `conflict` if its schema must be migrated or does
 *   not suit this program, StoreFault if the database cannot be used.
 */
export const openControl = (dataDir: string, options: StoreOptions = {}): Promise<ControlStore> =>
  openEither(shapeOf("control.sqlite", dataDir, options.busyMilliseconds), options);

/** Opens the usage store, which records requests and keys' last use. @throws as `openControl` does. */
export const openUsage = (dataDir: string, options: StoreOptions = {}): Promise<UsageStore> =>
  openEither(shapeOf("usage.sqlite", dataDir, options.busyMilliseconds), options);

async function openEither<Tables>(
  shape: FileShape,
  { databaseUrl = null }: StoreOptions,
): Promise<Store<Tables>> {
  if (databaseUrl === null) return openStore(shape);
  const store = await openPostgresStore<Tables>(databaseUrl);
  const query = async <Row>(text: string) =>
    (await store.database.executeQuery<Row>(CompiledQuery.raw(text))).rows;
  const { refuseUnready } = await import("./postgres-schema.ts");
  try {
    await refuseUnready({ query, setting: "DATABASE_URL" }, databaseUrl);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

/**
 * Opens both stores in a database whose schema has been checked. Both use the same few connections. Connects with the
 * first query, and again after an outage. Closing either store closes both.
 */
export async function openSharedStores(
  url: string,
): Promise<{ control: ControlStore; usage: UsageStore }> {
  const store = await openPostgresStore<ControlTables & UsageTables>(url);
  return { control: store as unknown as ControlStore, usage: store as unknown as UsageStore };
}

/** Advisory lock number for writes. It is the same in every version of gp-records, and differs from the migration's. */
const writeLock = 7_240_318_115_002;

/**
 * Opens a store in PostgreSQL that connects with the first query. Queries beyond the pool's size wait for a connection,
 * and fail after 1.5 s.
 */
async function openPostgresStore<Tables>(url: string): Promise<Store<Tables>> {
  // Loaded only here, because an installation that uses files never connects.
  const { openPool } = await import("./postgres.ts");
  const pool = await openPool(url);
  const database = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    database,
    write: (work) =>
      database
        .transaction()
        .setIsolationLevel("read committed")
        .execute(async (transaction) => {
          // Only one transaction writes at a time, as in SQLite, so that facts it has read stay true until it commits.
          // The lock has its own statement. Under READ COMMITTED, the next statement then sees everything that was
          // committed during the wait.
          await sql`select pg_advisory_xact_lock(${writeLock})`.execute(transaction);
          return work(transaction);
        }),
    close: () => database.destroy(),
  };
}

/** Opens a store in an SQLite file. @throws as `openFile` does. */
export function openStore<Tables>(shape: FileShape): Store<Tables> {
  const connection = openFile(shape);
  const database = new Kysely<Tables>({ dialect: nodeSqliteDialect(connection, shape.file) });
  return {
    database,
    write: (work) => database.transaction().execute(work),
    async close() {
      await database.destroy();
      // Kysely does not close a connection that no query has used.
      if (connection.isOpen) connection.close();
    },
  };
}

/**
 * Returns a Kysely dialect for node:sqlite: one connection, and transactions that take the write lock at once. Kysely's
 * `destroy()` closes the connection.
 * @param file path of the file, for error messages.
 */
export function nodeSqliteDialect(connection: DatabaseSync, file: string): Dialect {
  const database = kyselyDatabase(connection, file);
  const dialect = new SqliteDialect({ database });
  dialect.createDriver = () => new ImmediateDriver(database, connection);
  return dialect;
}

/** Driver whose transactions take the write lock first. One that begins with a read could fail at its first write. */
class ImmediateDriver extends SqliteDriver {
  readonly #sqlite: DatabaseSync;

  constructor(database: SqliteDatabase, sqlite: DatabaseSync) {
    super({ database });
    this.#sqlite = sqlite;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }

  /**
   * Rolls back, unless SQLite has already done so, as on a full disk. A second rollback would fail and hide the first
   * error.
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#sqlite.isTransaction) await super.rollbackTransaction(connection);
  }
}

function kyselyDatabase(connection: DatabaseSync, file: string): SqliteDatabase {
  const withFileNamed = <R>(work: () => R): R => {
    try {
      return work();
    } catch (error) {
      throw sqliteFault(error, file);
    }
  };
  return {
    close: () => connection.close(),
    prepare: (sql) =>
      withFileNamed(() => {
        const statement = connection.prepare(sql);
        return {
          reader: statement.columns().length > 0,
          all: (values) => withFileNamed(() => statement.all(...values.map(bindable))),
          run: (values) => withFileNamed(() => statement.run(...values.map(bindable))),
          iterate: (values) => statement.iterate(...values.map(bindable)),
        };
      }),
  };
}

/**
 * Returns a value that node:sqlite stores as intended. By default node:sqlite binds whole numbers as REAL, and treats
 * an object in first place as named parameters, which shifts the other values by one.
 */
function bindable(value: unknown): SQLInputValue {
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (value === null || typeof value === "string" || typeof value === "bigint") return value;
  if (typeof value === "number" || value instanceof Uint8Array) return value;
  throw new TypeError(
    `A value of type ${typeof value} cannot be stored. Pass a string, number, bigint, boolean, Uint8Array or null.`,
  );
}
