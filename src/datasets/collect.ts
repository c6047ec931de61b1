/** Takes a source's records into a new generation: checked, each id once, every link with its target. */
import {
  recordKinds,
  type CanonicalGp,
  type CanonicalRecord,
  type RecordKind,
} from "#records/canonical.ts";
import type { RecordName, SourceEntry } from "#records/source-entry.ts";
import { draftRecord, noRecords, type DraftRecords } from "./draft-record.ts";
import { faultsOfEntry, isAmong } from "./entry-faults.ts";
import { keyOf, needsOf, openLinkLedger, type LinkLedger, type Need } from "./links.ts";
import type { Merge } from "./merge.ts";
import { countRejections, type Place, type Rejections } from "./rejections.ts";
import { settleRemovals } from "./removals.ts";
import type { TextStore } from "./text-store.ts";

export interface Collected {
  /** Lines or rows that held a record. */
  read: number;
  accepted: number;
  rejections: Rejections;
  /** Removals of records that are not there. */
  absent: Rejections;
}

/** What was accepted. */
interface Accepted {
  records: DraftRecords;
  /** Keys of records that a merge does not take over. */
  gone: ReadonlySet<string>;
}

interface CollectRequest {
  source: string;
  entries: AsyncIterable<SourceEntry> | Iterable<SourceEntry>;
  /** Keeps what the source has and the delivery leaves alone; null where all of it is replaced. */
  merge: Merge | null;
  /** Called now and then with the number of lines read so far. */
  onRead: (lines: number) => void;
}

/** @param texts keeps the documents. */
export async function collectSource(
  { source, entries, merge, onRead }: CollectRequest,
  texts: TextStore,
): Promise<Collected & Accepted> {
  const isElsewhere = merge === null ? undefined : isFormerIn(merge);
  const ledger = openLinkLedger<Place>(isElsewhere);
  const placeOf = ({ record, id }: RecordName) =>
    ledger.placeOf(record, id) ?? merge?.removalOf(keyOf(record, id));
  const rejections = countRejections();
  const absent = countRejections();
  const records = noRecords();
  let read = 0;
  for await (const entry of entries) {
    if (++read % 1000 === 0) onRead(read);
    const faults = faultsOfEntry(entry, source, merge, placeOf);
    if (faults.length > 0) rejections.add(entry.file, entry.line, faults);
    else
      for (const record of enter(entry, ledger, merge))
        records[record.record].push(draftRecord(record, source, texts));
  }
  const dropped = new Set<string>();
  const orphans = ledger.settle(({ place, keys }, { field, kind, id }) => {
    for (const name of keys) dropped.add(keyOf(name.record, name.id));
    merge?.forget(keys);
    const reason = `names ${kind} '${id}', which this source does not have`;
    rejections.add(place.file, place.line, [{ field, reason }]);
  });
  for (const id of orphans) dropped.add(keyOf("gp", id));
  removeRecords(records, dropped);
  const gone = merge === null ? new Set<string>() : settleRemovals(merge, rejections, absent);
  return { read, accepted: read - rejections.count, rejections, absent, records, gone };
}

const isFormerIn = (merge: Merge) => (kind: RecordKind, id: string) => merge.has(keyOf(kind, id));

function removeRecords(records: DraftRecords, keys: ReadonlySet<string>): void {
  if (keys.size === 0) return;
  for (const kind of recordKinds)
    records[kind] = records[kind].filter(({ sourceId }) => !keys.has(keyOf(kind, sourceId)));
}

/** Enters a line without faults; the records it brings: its own, and the GPs nobody named before. */
function enter(
  { file, line, records, namedGps, deleted = [] }: SourceEntry,
  ledger: LinkLedger<Place>,
  merge: Merge | null,
): readonly CanonicalRecord[] {
  const place = { file, line };
  const isNew = (gp: CanonicalGp, i: number) =>
    ledger.placeOf("gp", gp.id) === undefined &&
    merge?.has(keyOf("gp", gp.id)) !== true &&
    !isAmong(records, gp) &&
    !isAmong(namedGps, gp, i);
  const newGps = namedGps.filter(isNew);
  for (const name of deleted) merge?.remove(place, name);
  const keys: RecordName[] = [];
  const needs: Need[] = [];
  for (const record of records) {
    const name = { record: record.record, id: record.id };
    const own = needsOf(record);
    merge?.deliver(place, { ...name, needs: own });
    keys.push(name);
    needs.push(...own);
  }
  ledger.add({ place, keys, needs, named: namedGps.map(({ id }) => id) });
  return newGps.length === 0 ? records : [...newGps, ...records];
}
