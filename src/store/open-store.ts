/** A store in an SQLite file, with a typed connection. */
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
import { type FileShape, openFile } from "./sqlite-file.ts";
import { sqliteFault } from "./store-fault.ts";

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

/** @throws as `openFile`. */
export function openStore<Tables>(shape: FileShape): Store<Tables> {
  const connection = openFile(shape);
  const database = new Kysely<Tables>({ dialect: nodeSqliteDialect(connection, shape.file) });
  return {
    database,
    write: (work) => database.transaction().execute(work),
    async close() {
      await database.destroy();
      // Kysely leaves a connection open that no query has used.
      if (connection.isOpen) connection.close();
    },
  };
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
    createAdapter: () => new SqliteAdapter(),
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
