/** Reads rows of a generation as arrays. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";

/** Returns the rows of any query, one by one. */
export function arraysOf<Row extends readonly unknown[]>(
  db: DatabaseSync,
  sql: string,
  ...values: SQLInputValue[]
): Iterable<Row> {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement.iterate(...values) as unknown as Iterable<Row>;
}
