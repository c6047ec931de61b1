/** Reads rows of a generation as arrays, one by one or in batches. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";

/** Number of rows in a batch. Batches take half the time of single rows, and memory stays bounded. */
const batchSize = 500;

/**
 * Yields all rows, in batches.
 * @param sql query that ends in `KEY >= ? order by KEY limit ?`. KEY is the first column, a unique whole number.
 */
export function* batchesOf<Row extends readonly [key: number, ...unknown[]]>(
  db: DatabaseSync,
  sql: string,
): Generator<Row[], void> {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  let next = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const rows = statement.all(next, batchSize) as unknown as Row[];
    if (rows.length > 0) yield rows;
    if (rows.length < batchSize) return;
    next = rows.at(-1)![0] + 1;
  }
}

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
