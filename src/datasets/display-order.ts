/** The order in which records are numbered: by name, signals newest first, equals by id. */
import type { RecordKind } from "#records/canonical.ts";
import type { DraftRecord } from "./draft-record.ts";

/** Sorts in place. */
export function sortForDisplay(kind: RecordKind, records: DraftRecord[]): DraftRecord[] {
  const greater = kind === "signal" ? -1 : 1;
  return records.sort((a, b) => {
    if (a.sortKey !== b.sortKey) return a.sortKey > b.sortKey ? greater : -greater;
    return a.id < b.id ? -1 : 1;
  });
}
