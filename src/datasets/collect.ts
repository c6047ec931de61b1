/** Takes a source's records into a new generation: checked, each id once, every link with its target. */
import type { DatabaseSync } from "node:sqlite";
import { checkRecord } from "#records/check.ts";
import type { CanonicalRecord } from "#records/canonical.ts";
import type { RecordFault, SourceEntry } from "#records/source-entry.ts";
import { keyOf, needsOf, openLinkLedger, partsOfKey, type LinkLedger } from "./links.ts";
import { mintId } from "./mint-id.ts";
import { countRejections, type Rejections } from "./rejections.ts";
import { bodyOf, sortKeyOf } from "./stored-record.ts";

interface Place {
  file: string;
  line: number;
}

export interface Collected {
  /** Lines or rows that held a record. */
  read: number;
  accepted: number;
  rejections: Rejections;
}

/**
 * @param draft a generation with its tables made.
 * @param onRead called now and then with the number of lines read so far.
 */
export async function collectSource(
  draft: DatabaseSync,
  source: string,
  entries: AsyncIterable<SourceEntry> | Iterable<SourceEntry>,
  onRead: (lines: number) => void,
): Promise<Collected> {
  const ledger = openLinkLedger<Place>();
  const rejections = countRejections();
  const store = openRecordStore(draft, source);
  let read = 0;
  for await (const entry of entries) {
    if (++read % 1000 === 0) onRead(read);
    const faults = faultsOf(entry, source, ledger);
    if (faults.length > 0) rejections.add(entry.file, entry.line, faults);
    else for (const record of enter(entry, ledger)) store(record);
  }
  const dropped: string[] = [];
  const orphans = ledger.settle(({ place, keys }, { field, kind, id }) => {
    dropped.push(...keys);
    const reason = `names ${kind} '${id}', which this source does not have`;
    rejections.add(place.file, place.line, [{ field, reason }]);
  });
  removeRecords(draft, source, [...dropped, ...orphans]);
  return { read, accepted: read - rejections.count, rejections };
}

function openRecordStore(draft: DatabaseSync, source: string): (record: CanonicalRecord) => void {
  const insert = draft.prepare("insert into canonical values (?, ?, ?, ?, ?, ?)");
  return (record) => {
    const publicId = mintId(record.record, source, record.id);
    const body = bodyOf(record, source);
    insert.run(record.record, source, record.id, publicId, sortKeyOf(record), body);
  };
}

/** Enters a line without faults; the records it brings: its own, and the GPs nobody named before. */
function enter(entry: SourceEntry, ledger: LinkLedger<Place>): CanonicalRecord[] {
  const { file, line, records, namedGps } = entry;
  const brought = new Map<string, CanonicalRecord>();
  for (const gp of namedGps) {
    const key = keyOf("gp", gp.id);
    if (ledger.placeOf(key) === undefined) brought.set(key, gp);
  }
  for (const record of records) brought.set(keyOf(record.record, record.id), record);
  ledger.add({
    place: { file, line },
    keys: records.map(({ record, id }) => keyOf(record, id)),
    needs: records.flatMap(needsOf),
    named: namedGps.map(({ id }) => keyOf("gp", id)),
  });
  return [...brought.values()];
}

/** In one pass: nothing is indexed yet, so that one by one each would read the whole table. */
function removeRecords(draft: DatabaseSync, source: string, keys: readonly string[]): void {
  draft.exec(
    "create temp table dropped (kind, source_id, primary key (kind, source_id)) without rowid",
  );
  const insert = draft.prepare("insert or ignore into dropped values (?, ?)");
  for (const key of keys) insert.run(...partsOfKey(key));
  draft
    .prepare(
      `delete from canonical
       where source = ? and (kind, source_id) in (select kind, source_id from dropped)`,
    )
    .run(source);
}

function faultsOf(entry: SourceEntry, source: string, ledger: LinkLedger<Place>): RecordFault[] {
  if (entry.faults.length > 0) return entry.faults;
  const own = new Set<string>();
  return [...entry.records, ...entry.namedGps].flatMap((record) => {
    const faults = checkRecord(record);
    if (faults.length > 0) return faults;
    return [...repeatedId(record, entry, own, ledger), ...foreignSource(record, source)];
  });
}

function repeatedId(
  record: CanonicalRecord,
  entry: SourceEntry,
  own: Set<string>,
  ledger: LinkLedger<Place>,
): RecordFault[] {
  if (record.record === "gp" && entry.namedGps.includes(record)) return [];
  const key = keyOf(record.record, record.id);
  const place = ledger.placeOf(key) ?? (own.has(key) ? entry : undefined);
  own.add(key);
  if (place === undefined) return [];
  return [
    {
      field: "id",
      reason: `'${record.id}' is the id of the ${record.record} at ${place.file}:${place.line} too`,
    },
  ];
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
