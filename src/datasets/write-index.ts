/** Writes what the records of a draft are found by, once all its other tables are filled. */
import type { DatabaseSync } from "node:sqlite";
import { indexTables } from "./index-tables.ts";
import { indexChecksum } from "./served.ts";
import { arraysIn, writeArrays } from "./stored-arrays.ts";

/** @returns the checksum over what was written. */
export function writeIndex(draft: DatabaseSync): string {
  const arrays = [...arraysIn(indexTables(draft))];
  writeArrays(draft, arrays);
  return indexChecksum(arrays);
}
