/** Entries that an importer yields, one for each place of a file with a record: a line or a row. */
import type { CanonicalGp, CanonicalRecord } from "./canonical.ts";
import type { RecordKind } from "./kinds.ts";

/** A fault of an entry: its member or column, and what would be right. */
export interface RecordFault {
  field: string;
  reason: string;
  /** Set if the reason quotes the cell of a table, so that equal faults of several rows count as one. */
  isOfCell?: true;
}

/** A record, by the source's own id. */
export interface RecordName {
  record: RecordKind;
  id: string;
}

/** Prefix of ids for GPs that rows only name. */
export const namedGpPrefix = "named:";

export interface SourceEntry {
  /** File, as the operator named it. */
  file: string;
  /** Line on which the record begins, from 1. */
  line: number;
  /** Records of the line, not yet checked against the schema; empty if it could not be read. */
  records: CanonicalRecord[];
  /** GPs that the line only names: one object for each id, however many lines name it. */
  namedGps: CanonicalGp[];
  /** Records to remove. Only an import that merges accepts them. */
  deleted?: readonly RecordName[];
  /** No text has a control character or half a surrogate pair, so nothing need look for them. */
  isPlain?: true;
  /** Reasons to reject the line; empty if there are none so far. */
  faults: RecordFault[];
}
