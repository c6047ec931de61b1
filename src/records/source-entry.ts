/** What an importer yields for each place of a file that holds a record, a line or a row. */
import type { CanonicalGp, CanonicalRecord } from "./canonical.ts";
import type { RecordKind } from "./kinds.ts";

/** One thing wrong with what was read: which member or column, and what would be right. */
export interface RecordFault {
  field: string;
  reason: string;
  /** Set where the reason holds the cell of a table, so that equal faults of several rows are one. */
  isOfCell?: true;
}

/** A record by the source's own id. */
export interface RecordName {
  record: RecordKind;
  id: string;
}

/** Prefix of the ids of GPs that rows only name. */
export const namedGpPrefix = "named:";

export interface SourceEntry {
  /** As the operator named it. */
  file: string;
  /** Line on which the record begins, from 1. */
  line: number;
  /** What the line gave. Not yet checked against the schema; empty where it could not be read. */
  records: CanonicalRecord[];
  /** GPs that the line only names; one object for each id, however many lines name it. */
  namedGps: CanonicalGp[];
  /** Records the line says are to be removed; only an import that merges takes them. */
  deleted?: readonly RecordName[];
  /** Known to hold no control character and no half of a surrogate pair in any text, so that nobody need look for them. */
  isPlain?: true;
  /** Why the line is rejected; empty where nothing is wrong so far. */
  faults: RecordFault[];
}
