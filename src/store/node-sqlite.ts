/** Lets Kysely speak to node:sqlite: one connection, statements kept by their text, writes that lock at once. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TransactionSettings,
} from "kysely";
import { sqliteFault } from "./sqlite-fault.ts";

// A query text is a handful of shapes; only lists of varying length make more, and the oldest go first.
const keptStatementsMax = 200;

/**
 * @param file its path, for the words of errors.
 * Kysely's `destroy()` closes the connection.
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

/** A transaction that begins by reading fails at once when it comes to write, whatever the busy timeout. */
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

/** SQLite rolls back table definitions like rows, so all migrations fit into one transaction. */
class OneTransactionAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

function kyselyDatabase(connection: DatabaseSync, file: string): SqliteDatabase {
  const kept = new Map<string, StatementSync>();
  const inWords = <R>(work: () => R): R => {
    try {
      return work();
    } catch (error) {
      throw sqliteFault(error, file);
    }
  };
  const statementOf = (sql: string): StatementSync => {
    const known = kept.get(sql);
    if (known !== undefined) return known;
    const statement = connection.prepare(sql);
    kept.set(sql, statement);
    if (kept.size > keptStatementsMax) kept.delete(kept.keys().next().value!);
    return statement;
  };
  return {
    close: () => connection.close(),
    prepare: (sql) =>
      inWords(() => {
        const statement = statementOf(sql);
        return {
          reader: statement.columns().length > 0,
          all: (values) => inWords(() => statement.all(...values.map(bindable))),
          run: (values) => inWords(() => statement.run(...values.map(bindable))),
          iterate: (values) => statement.iterate(...values.map(bindable)),
        };
      }),
  };
}

/**
 * What node:sqlite stores as it was meant: it binds whole JavaScript numbers as REAL, and takes an object in first
 * place for named parameters, shifting the others by one.
 */
function bindable(value: unknown): SQLInputValue {
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (value === null || typeof value === "string" || typeof value === "bigint") return value;
  if (typeof value === "number" || value instanceof Uint8Array) return value;
  throw new TypeError(`A ${typeof value} cannot be stored; pass text, a number, bytes or null.`);
}
