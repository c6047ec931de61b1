/** Writes what the records of a draft are found by, once all its other tables are filled. */
import type { DatabaseSync } from "node:sqlite";
import { indexTables } from "./index-tables.ts";
import { checksumsOf, type Checksums } from "./served.ts";
import { arraysIn, writeArrays } from "./stored-arrays.ts";

/** @returns checksums over all that a server will read of the draft. */
export function writeIndex(draft: DatabaseSync): Checksums {
  const index = indexTables(draft);
  const arrays = [...arraysIn(index)];
  writeArrays(draft, arrays);
  return checksumsOf(draft, arrays, index);
}
