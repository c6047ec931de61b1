/** The rows of one side of a copy, a file or a database, read and changed in the order of their keys. */
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { sqliteFault } from "#store/store-fault.ts";
import { connectPostgres, placeName } from "#store/postgres.ts";

export type Value = string | number | Uint8Array | null;
/** In the order of the columns. */
export type Row = readonly Value[];

/** A table as it is read and changed. */
export interface Shape {
  name: string;
  key: readonly string[];
  /** Those of the key included. */
  columns: readonly string[];
  /** SQL of which rows are read; all where it is left out. */
  where?: string;
}

export interface Rows {
  /** For messages. */
  readonly place: string;
  /** By name; none where there is no such table. */
  columnsOf(table: string): Promise<string[]>;
  /** At most so many whose keys come after `after`, in their order. @param after a key. */
  read(shape: Shape, after: Row | null, max: number): Promise<Row[]>;
  insert(shape: Shape, rows: readonly Row[]): Promise<void>;
  /** Sets one column of the row with this key. */
  set(shape: Shape, key: Row, column: string, value: Value): Promise<void>;
  replace(shape: Shape, rows: readonly Row[]): Promise<void>;
  remove(shape: Shape, keys: readonly Row[]): Promise<void>;
  run(sql: string): Promise<void>;
  /** What is read in it is of one moment. */
  reading<R>(work: () => Promise<R>): Promise<R>;
  /** All of what is done in it or nothing, and nobody else changes anything meanwhile. */
  writing<R>(work: () => Promise<R>): Promise<R>;
  close(): void;
}

const keyIndexes = ({ key, columns }: Shape) => key.map((name) => columns.indexOf(name));

/** @returns what takes the key out of a row. */
export function keyOf(shape: Shape): (row: Row) => Row {
  const indexes = keyIndexes(shape);
  return (row) => indexes.map((index) => row[index]!);
}

const quoted = (name: string) => `"${name}"`;
const listed = (names: readonly string[]) => names.map(quoted).join(", ");

/** SQL of both engines; `at` writes the parameter with this number. */
const statements = (at: (number: number) => string) => {
  const parameters = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => at(from + i)).join(", ");
  const isKey = (key: readonly string[], from: number) =>
    key.map((name, i) => `${quoted(name)} = ${at(from + i)}`).join(" and ");
  return {
    read: ({ name, key, columns, where = "true" }: Shape, isFirst: boolean) =>
      `select ${listed(columns)} from ${quoted(name)}
       where ${where} ${isFirst ? "" : `and (${listed(key)}) > (${parameters(2, key.length)})`}
       order by ${listed(key)} limit ${at(1)}`,
    insert: ({ name, columns }: Shape, rows: number) =>
      `insert into ${quoted(name)} (${listed(columns)}) values ${Array.from(
        { length: rows },
        (_, i) => `(${parameters(1 + i * columns.length, columns.length)})`,
      ).join(", ")}`,
    set: ({ name, key }: Shape, column: string) =>
      `update ${quoted(name)} set ${quoted(column)} = ${at(1)} where ${isKey(key, 2)}`,
    replace: ({ name, key, columns }: Shape) =>
      `update ${quoted(name)} set ${columns.map((column, i) => `${quoted(column)} = ${at(1 + i)}`).join(", ")}
       where ${isKey(key, 1 + columns.length)}`,
    remove: ({ name, key }: Shape) => `delete from ${quoted(name)} where ${isKey(key, 1)}`,
  };
};

/** @throws StoreFault where the file cannot be used. */
export function openSqliteRows(file: string): Rows {
  const sql = statements((number) => `?${number}`);
  const naming = <R>(work: () => R): R => {
    try {
      return work();
    } catch (error) {
      throw sqliteFault(error, file);
    }
  };
  const db = naming(() => new DatabaseSync(file, { timeout: busyMilliseconds }));
  const run = (text: string) => naming(() => db.exec(text));
  const change = (text: string, rows: readonly Row[]) =>
    naming(() => {
      const statement = db.prepare(text);
      for (const row of rows) statement.run(...row.map(sqliteValue));
    });
  const within = async <R>(begin: string, work: () => Promise<R>) => {
    run(begin);
    try {
      const result = await work();
      run("commit");
      return result;
    } catch (error) {
      if (db.isTransaction) run("rollback");
      throw error;
    }
  };
  return {
    place: file,
    async columnsOf(table) {
      const found = naming(() => db.prepare("select name from pragma_table_info(?)").all(table));
      return found.map(({ name }) => String(name)).toSorted();
    },
    async read(shape, after, max) {
      return naming(() => {
        const statement = db.prepare(sql.read(shape, after === null));
        statement.setReturnArrays(true);
        return statement.all(max, ...(after ?? []).map(sqliteValue)) as unknown as Row[];
      });
    },
    async insert(shape, rows) {
      change(sql.insert(shape, 1), rows);
    },
    async set(shape, key, column, value) {
      change(sql.set(shape, column), [[value, ...key]]);
    },
    async replace(shape, rows) {
      const key = keyOf(shape);
      change(
        sql.replace(shape),
        rows.map((row) => [...row, ...key(row)]),
      );
    },
    async remove(shape, keys) {
      change(sql.remove(shape), keys);
    },
    async run(text) {
      run(text);
    },
    reading: (work) => within("begin", work),
    writing: (work) => within("begin immediate", work),
    close: () => db.close(),
  };
}

const busyMilliseconds = 5000;

/** node:sqlite binds numbers as REAL, which an integer column turns back and a text column would not. */
const sqliteValue = (value: Value): SQLInputValue =>
  typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value;

/** A large table takes its time, and between two statements the other side may. */
export const patientLimits = { answer: 0, statement: 0, lock: 30_000, idleInTransaction: 0 };

/** PostgreSQL takes so many parameters in one statement, less a few. */
const parametersMax = 60_000;
const rowsMax = 500;

/** @throws StoreFault where the database cannot be reached. */
export async function openPostgresRows(url: string): Promise<Rows> {
  const place = placeName(url);
  const session = await connectPostgres({ url }, { limits: patientLimits });
  const sql = statements((number) => `$${number}`);
  const { query, inTransaction } = session;
  return {
    place,
    async columnsOf(table) {
      const found = await query<{ name: string }>(
        "select column_name as name from information_schema.columns where table_schema = current_schema() and table_name = $1",
        [table],
      );
      return found.map(({ name }) => name).toSorted();
    },
    async read(shape, after, max) {
      const text = sql.read(shape, after === null);
      const found = await query<Record<string, Value>>(text, [max, ...(after ?? [])]);
      return found.map((row) => shape.columns.map((name) => row[name]!));
    },
    async insert(shape, rows) {
      const each = Math.min(rowsMax, Math.floor(parametersMax / shape.columns.length));
      for (let from = 0; from < rows.length; from += each) {
        const some = rows.slice(from, from + each);
        await query(sql.insert(shape, some.length), some.flat());
      }
    },
    async set(shape, key, column, value) {
      await query(sql.set(shape, column), [value, ...key]);
    },
    async replace(shape, rows) {
      const key = keyOf(shape);
      for (const row of rows) await query(sql.replace(shape), [...row, ...key(row)]);
    },
    async remove(shape, keys) {
      for (const key of keys) await query(sql.remove(shape), key);
    },
    async run(text) {
      await query(text);
    },
    reading: (work) => inTransaction(work, "begin isolation level repeatable read read only"),
    writing: (work) => inTransaction(work),
    close: session.close,
  };
}
