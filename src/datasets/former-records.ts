/** Tells a merge what its source has in the generation before, and takes over what the delivery leaves of it. */
import { recordKinds } from "#records/canonical.ts";
import type { DraftRecord, DraftRecords } from "./draft-record.ts";
import { keyOf, type Need } from "./links.ts";
import type { LinkedRecord } from "./merge.ts";

export const linkedRecords = (former: DraftRecords): LinkedRecord[] =>
  recordKinds.flatMap((record) =>
    former[record].map((one) => ({ record, id: one.sourceId, needs: needsOf(one) })),
  );

function needsOf({ gps, projects }: DraftRecord): Need[] {
  return [
    ...gps.map((id): Need => ({ field: "gps", kind: "gp", id })),
    ...projects.map((id): Need => ({ field: "project_ids", kind: "project", id })),
  ];
}

/**
 * Adds what the delivery left alone to what it brought.
 * @param gone keys of records that are not taken over.
 */
export function takeOver(
  records: DraftRecords,
  former: DraftRecords,
  gone: ReadonlySet<string>,
): void {
  for (const kind of recordKinds) {
    const brought = new Set(records[kind].map(({ sourceId }) => sourceId));
    for (const one of former[kind])
      if (!brought.has(one.sourceId) && !gone.has(keyOf(kind, one.sourceId)))
        records[kind].push(one);
  }
}
