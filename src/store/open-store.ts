/** Opens a store's SQLite file: creates it if needed, checks and migrates its schema, and returns a typed connection. */
import { closeSync, existsSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Transaction,
  type TransactionSettings,
} from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { DomainError, StoreFault } from "./domain-error.ts";
import { otherThanFile } from "./plain-file.ts";
import { makePrivateFolder } from "./private-folder.ts";
import { schemaSteps, unfitSchema } from "./schema-steps.ts";
import { sqliteCodeOf, sqliteCodes, sqliteFault } from "./store-fault.ts";
import { refuseOldSqlite } from "./sqlite-version.ts";

export interface Store<Tables> {
  /** For reading. */
  readonly database: Kysely<Tables>;
  /**
   * One transaction that takes the write lock before it reads, so what it has read stays true until it commits.
   * Inside `work` only the transaction may be used: `database` waits for it to end.
   * @throws StoreFault `busy` if another process keeps the lock.
   */
  write<R>(work: (transaction: Transaction<Tables>) => Promise<R>): Promise<R>;
  close(): Promise<void>;
}

/** By name; the names sort in the order in which the migrations run. */
export type Migrations = Readonly<Record<string, Migration>>;

export interface StoreShape {
  file: string;
  migrations: Migrations;
  /** `full` loses nothing in a power failure, `normal` perhaps the last commits; a killed process loses nothing either way. */
  synchronous: "full" | "normal";
  /** How long to wait for another writer; the thread blocks meanwhile. */
  busyMilliseconds: number;
  /** Whether deleted data is overwritten with zeros instead of staying in the file until its place is needed. */
  erasesDeleted?: boolean;
  /** Whether a new file is made with incremental auto-vacuum, which lets it shrink page by page. */
  returnsFreePages?: boolean;
}

/**
 * @throws DomainError `conflict` for a schema of another program, StoreFault `busy` if another process keeps the write lock,
 *   `unusable` for a folder or file that cannot be used. A refused file is left as it was.
 */
export async function openStore<Tables>(shape: StoreShape): Promise<Store<Tables>> {
  refuseOldSqlite();
  createPrivateFile(shape.file);
  const connection = connect(shape);
  try {
    return await readyStore<Tables>(connection, shape);
  } catch (error) {
    connection.close();
    throw sqliteFault(error, shape.file);
  }
}

async function readyStore<Tables>(
  connection: DatabaseSync,
  shape: StoreShape,
): Promise<Store<Tables>> {
  const { file, migrations, synchronous, busyMilliseconds } = shape;
  const { erasesDeleted = false, returnsFreePages = false } = shape;
  const database = new Kysely<Tables>({ dialect: nodeSqliteDialect(connection, file) });
  const mustMigrate = isBehind(connection, shape);
  // Before anything is written; in a file that has content it changes nothing.
  if (returnsFreePages) connection.exec("pragma auto_vacuum = incremental");
  useWriteAheadLog(connection, busyMilliseconds);
  connection.exec(`pragma synchronous = ${synchronous}`);
  if (erasesDeleted) connection.exec("pragma secure_delete = on");
  if (mustMigrate) await migrate(database, migrations);
  return {
    database,
    write: (work) => database.transaction().execute(work),
    close: () => database.destroy(),
  };
}

function connect({ file, busyMilliseconds }: StoreShape): DatabaseSync {
  const other = otherThanFile(file);
  if (other !== null)
    throw new StoreFault(
      "unusable",
      `${file} is ${other}, not a file. Find out who put it there and move it away; put the file back, from a backup if need be.`,
    );
  try {
    return new DatabaseSync(file, { timeout: busyMilliseconds, enableForeignKeyConstraints: true });
  } catch (error) {
    throw sqliteFault(error, file);
  }
}

/** A new folder (0700) and file (0600) can be read by this user only; SQLite gives its side files the mode of the file. */
function createPrivateFile(file: string): void {
  // Opening and closing a file that SQLite has open in this process would drop its locks.
  if (existsSync(file)) return;
  try {
    makePrivateFolder(dirname(file));
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && existsSync(file)) return;
    throw new StoreFault(
      "unusable",
      `${file} cannot be made (${code}). Give this user write access to the folder, or name another one with DATA_DIR.`,
      { cause: error },
    );
  }
}

const pauseMilliseconds = 10;

/**
 * Switches an SQLite file to its write-ahead log, in which readers and one writer do not wait for each other.
 * The mode is stored in the file: only the first switch writes. Blocks the thread while another process makes it.
 */
export function useWriteAheadLog(connection: DatabaseSync, busyMilliseconds: number): void {
  const deadline = performance.now() + busyMilliseconds;
  for (;;) {
    try {
      connection.exec("pragma journal_mode = wal");
      return;
    } catch (error) {
      // SQLite's own busy timeout does not cover this statement, which upgrades a read lock to a write lock.
      if (sqliteCodeOf(error) !== sqliteCodes.busy || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMilliseconds);
    }
  }
}

/** Whether migrations are missing; writes nothing. @throws DomainError `conflict` for a schema that this program cannot work with. */
function isBehind(connection: DatabaseSync, { file, migrations }: StoreShape): boolean {
  const known = Object.keys(migrations);
  const taken = schemaSteps(connection);
  const unfit = unfitSchema(known, taken);
  if (unfit !== null)
    throw new DomainError(
      "conflict",
      `${file} ${unfit.fault}. Nothing was changed. ${unfit.remedy}`,
    );
  return taken.length < known.length;
}

/** Runs the missing migrations in one transaction: all of them or, if one fails or the process dies, none. */
export async function migrate(database: Kysely<any>, migrations: Migrations): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const provider = { getMigrations: async () => ({ ...migrations }) };
    const { error } = await new Migrator({ db: transaction, provider }).migrateToLatest();
    if (error !== undefined) throw error;
  });
}

/**
 * Connects Kysely to node:sqlite: one connection, statements cached by their text, and transactions that take the write
 * lock at once. Kysely's `destroy()` closes the connection.
 * @param file its path, for error messages.
 */
export function nodeSqliteDialect(connection: DatabaseSync, file: string): Dialect {
  const database = kyselyDatabase(connection, file);
  return {
    createDriver: () => new ImmediateDriver(database, connection),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new OneTransactionAdapter(),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
  };
}

/** A transaction that begins with a read fails at once when it comes to write, whatever the busy timeout. */
class ImmediateDriver extends SqliteDriver {
  readonly #sqlite: DatabaseSync;

  constructor(database: SqliteDatabase, sqlite: DatabaseSync) {
    super({ database });
    this.#sqlite = sqlite;
  }

  override async beginTransaction(
    connection: DatabaseConnection,
    { accessMode }: TransactionSettings = {},
  ): Promise<void> {
    const begin = accessMode === "read only" ? "begin" : "begin immediate";
    await connection.executeQuery(CompiledQuery.raw(begin));
  }

  /** A full disk makes SQLite roll back by itself; a second time would be an error that hides the first. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#sqlite.isTransaction) await super.rollbackTransaction(connection);
  }
}

/** SQLite rolls back table definitions as it does rows, so all migrations fit into one transaction. */
class OneTransactionAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** There are few query texts; only lists of varying length make more, and the oldest are dropped first. */
const cachedStatementsMax = 200;

function kyselyDatabase(connection: DatabaseSync, file: string): SqliteDatabase {
  const cached = new Map<string, StatementSync>();
  const withFileNamed = <R>(work: () => R): R => {
    try {
      return work();
    } catch (error) {
      throw sqliteFault(error, file);
    }
  };
  const statementOf = (sql: string): StatementSync => {
    const known = cached.get(sql);
    if (known !== undefined) return known;
    const statement = connection.prepare(sql);
    cached.set(sql, statement);
    if (cached.size > cachedStatementsMax) cached.delete(cached.keys().next().value!);
    return statement;
  };
  return {
    close: () => connection.close(),
    prepare: (sql) =>
      withFileNamed(() => {
        const statement = statementOf(sql);
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
 * The value in a form that node:sqlite stores as intended: left alone it binds whole numbers as REAL, and takes an object
 * in first place for named parameters, which shifts the others by one.
 */
function bindable(value: unknown): SQLInputValue {
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (value === null || typeof value === "string" || typeof value === "bigint") return value;
  if (typeof value === "number" || value instanceof Uint8Array) return value;
  throw new TypeError(`A ${typeof value} cannot be stored; pass text, a number, bytes or null.`);
}
