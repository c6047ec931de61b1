/** Takes a source's records into a new generation: checked, each id once, every link with its target. */
import { checkRecord } from "#records/check.ts";
import {
  recordKinds,
  type CanonicalGp,
  type CanonicalRecord,
  type RecordKind,
} from "#records/canonical.ts";
import type { RecordFault, RecordName, SourceEntry } from "#records/source-entry.ts";
import { draftRecord, noRecords, type DraftRecords } from "./draft-record.ts";
import { keyOf, needsOf, openLinkLedger, type LinkLedger } from "./links.ts";
import type { Merge } from "./merge.ts";
import { countRejections, type Place, type Rejections } from "./rejections.ts";
import { removalFaults, repeatedFault, settleRemovals } from "./removals.ts";
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
export interface Accepted {
  records: DraftRecords;
  /** Keys of records that a merge does not take over. */
  gone: ReadonlySet<string>;
}

export interface CollectRequest {
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
  const rejections = countRejections();
  const absent = countRejections();
  const records = noRecords();
  let read = 0;
  for await (const entry of entries) {
    if (++read % 1000 === 0) onRead(read);
    const faults = faultsOf(entry, source, ledger, merge);
    if (faults.length > 0) rejections.add(entry.file, entry.line, faults);
    else
      for (const record of enter(entry, ledger, merge))
        records[record.record].push(draftRecord(record, source, texts));
  }
  const dropped = new Set<string>();
  const orphans = ledger.settle(({ place, keys }, { field, kind, id }) => {
    for (const name of keys) dropped.add(keyOf(name.record, name.id));
    merge?.forget(place);
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
    ![...records, ...namedGps.slice(0, i)].some((one) => isSame(one, gp));
  const newGps = namedGps.filter(isNew);
  for (const name of deleted) merge?.remove(place, name);
  for (const record of records)
    merge?.deliver(place, { ...nameOf(record), needs: needsOf(record) });
  ledger.add({
    place,
    keys: records.map(nameOf),
    needs: records.flatMap(needsOf),
    named: namedGps.map(({ id }) => id),
  });
  return newGps.length === 0 ? records : [...newGps, ...records];
}

const nameOf = ({ record, id }: CanonicalRecord): RecordName => ({ record, id });

const isSame = (a: RecordName, b: RecordName) => a.record === b.record && a.id === b.id;

function faultsOf(
  entry: SourceEntry,
  source: string,
  ledger: LinkLedger<Place>,
  merge: Merge | null,
): RecordFault[] {
  if (entry.faults.length > 0) return entry.faults;
  const { records, namedGps } = entry;
  /** Where the delivery has or removes this record already, be it in one of these of the same line. */
  const placeOf = (name: RecordName, before: readonly RecordName[]) =>
    ledger.placeOf(name.record, name.id) ??
    merge?.removalOf(keyOf(name.record, name.id)) ??
    (before.some((one) => isSame(one, name)) ? entry : undefined);
  const faults: RecordFault[] = [];
  for (const [i, record] of [...records, ...namedGps].entries()) {
    const own = checkRecord(record);
    faults.push(...own);
    if (own.length > 0) continue;
    if (i < records.length)
      faults.push(...repeatedFault(record, placeOf(record, records.slice(0, i))));
    faults.push(...foreignSource(record, source));
  }
  faults.push(...removalFaults(entry, merge, (name) => placeOf(name, records)));
  return faults;
}

function foreignSource({ provenance }: CanonicalRecord, source: string): RecordFault[] {
  return provenance?.source === undefined || provenance.source === source
    ? []
    : [
        {
          field: "provenance.source",
          reason: `must be left out or be the name of the import, '${source}'`,
        },
      ];
}
