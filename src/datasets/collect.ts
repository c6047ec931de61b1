/** Collects the records of a source for a new generation: checks them, takes each id once, and resolves every link. */
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import type { RecordFault, RecordName } from "#records/source-entry.ts";
import type { Drafted, DraftedEntry } from "./draft-entry.ts";
import { type DraftedRecord, type DraftRecords, noRecords } from "./draft-record.ts";
import { keyOf, type LinkLedger, type Need, needsOf, openLinkLedger } from "./links.ts";
import type { Blocked, Merge } from "./merge.ts";
import { countRejections, type Place, type Rejections } from "./rejections.ts";

export interface Collected {
  /** Number of lines or rows with a record. */
  read: number;
  accepted: number;
  rejections: Rejections;
  /** Removals of records that do not exist. */
  absent: Rejections;
}

/** The accepted records. */
interface Accepted {
  records: DraftRecords;
  /** Keys of records that a merge does not take over. */
  gone: ReadonlySet<string>;
}

interface CollectRequest {
  source: string;
  /** Entries in the order of the source, some at a time. */
  entries: AsyncIterable<readonly DraftedEntry[]>;
  /** Merge that keeps records which the delivery leaves alone; null if all are replaced. */
  merge: Merge | null;
  /** Called now and then with the number of lines read so far. */
  onRead: (lines: number) => void;
}

export async function collectSource({
  source,
  entries,
  merge,
  onRead,
}: CollectRequest): Promise<Collected & Accepted> {
  const isElsewhere = merge === null ? undefined : isFormerIn(merge);
  const ledger = openLinkLedger<Place>(isElsewhere);
  const placeOf = ({ record, id }: RecordName) =>
    ledger.placeOf(record, id) ?? merge?.removalOf(keyOf(record, id));
  const rejections = countRejections();
  const absent = countRejections();
  const records = noRecords();
  let read = 0;
  for await (const some of entries)
    for (const entry of some) {
      if (++read % 1000 === 0) onRead(read);
      const faults = faultsOfEntry(entry, source, merge, placeOf);
      if (faults.length > 0) rejections.add(entry.file, entry.line, faults);
      else
        for (const { kind, sourceId, id, sortKey, formerIds: former, text } of enter(
          entry,
          ledger,
          merge,
        )) {
          // Most records have none and share one empty list.
          const formerIds = former.length === 0 ? none : former;
          records[kind].push({ source, sourceId, id, sortKey, formerIds, text });
        }
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

const none: readonly string[] = [];

const isFormerIn = (merge: Merge) => (kind: RecordKind, id: string) => merge.has(keyOf(kind, id));

function removeRecords(records: DraftRecords, keys: ReadonlySet<string>): void {
  if (keys.size === 0) return;
  for (const kind of recordKinds)
    records[kind] = records[kind].filter(({ sourceId }) => !keys.has(keyOf(kind, sourceId)));
}

/** Enters a line without faults. @returns its records, and the GPs that it names first. */
function enter(
  entry: DraftedEntry,
  ledger: LinkLedger<Place>,
  merge: Merge | null,
): readonly DraftedRecord[] {
  const { file, line, deleted } = entry;
  // Without faults all drafted ones are records.
  const records = entry.records as readonly DraftedRecord[];
  const namedGps = entry.namedGps as readonly DraftedRecord[];
  const place = { file, line };
  const isNew = (gp: DraftedRecord, i: number) =>
    ledger.placeOf("gp", gp.sourceId) === undefined &&
    merge?.has(keyOf("gp", gp.sourceId)) !== true &&
    !isAmong(records, nameOf(gp)) &&
    !isAmong(namedGps, nameOf(gp), i);
  const newGps = namedGps.filter(isNew);
  for (const name of deleted) merge?.remove(place, name);
  const keys: RecordName[] = [];
  const needs: Need[] = [];
  for (const record of records) {
    const own = needsOf(record);
    merge?.deliver(place, { ...nameOf(record), needs: own });
    keys.push(nameOf(record));
    needs.push(...own);
  }
  ledger.add({ place, keys, needs, named: namedGps.map(({ sourceId }) => sourceId) });
  return newGps.length === 0 ? records : [...newGps, ...records];
}

const nameOf = ({ kind, sourceId }: DraftedRecord): RecordName => ({ record: kind, id: sourceId });

/** Returns faults of removals. @param placeOf returns the place where the delivery already has a record of this name. */
function removalFaults(
  { deleted }: DraftedEntry,
  merge: Merge | null,
  placeOf: (name: RecordName) => Place | undefined,
): RecordFault[] {
  if (merge === null)
    return deleted.map(() => ({
      field: "deleted",
      reason: "is only for an import with --merge; a delivery of the whole source leaves it out",
    }));
  return deleted.flatMap((name) => repeatedFault(name, placeOf(name)));
}

/** Refuses the second of two lines for one record, even an equal one: the result would depend on their order. */
function repeatedFault({ record, id }: RecordName, place: Place | undefined): RecordFault[] {
  if (place === undefined) return [];
  const reason = `'${id}' is the id of the ${record} at ${place.file}:${place.line} too`;
  return [{ field: "id", reason }];
}

/**
 * Reports removals without a record to remove, and rejects lines whose removals cannot be carried out.
 * @returns keys of records that are to go.
 */
function settleRemovals(
  merge: Merge,
  rejections: Rejections,
  absent: Rejections,
): ReadonlySet<string> {
  const outcome = merge.outcome();
  for (const { place, name } of outcome.absent) {
    const reason = `'${name.id}' names no ${name.record} of this source, so there is nothing to remove`;
    absent.add(place.file, place.line, [{ field: "id", reason }]);
  }
  const rejected = new Map<Place, RecordFault[]>();
  for (const blocked of outcome.blocked)
    rejected.set(blocked.place, [
      ...(rejected.get(blocked.place) ?? []),
      { field: "deleted", reason: blockedWords(blocked) },
    ]);
  for (const [{ file, line }, faults] of rejected) rejections.add(file, line, faults);
  return outcome.gone;
}

function blockedWords({ name, linkers }: Blocked): string {
  const [first] = linkers;
  const others = linkers.length > 1 ? ` and ${linkers.length - 1} more` : "";
  return `${name.record} '${name.id}' cannot be removed while others name it: ${first!.record} '${first!.id}'${others}`;
}

/**
 * Returns the faults of an entry, none if it may be entered.
 * @param placeOf returns the place where the delivery already has or removes a record.
 */
function faultsOfEntry(
  entry: DraftedEntry,
  source: string,
  merge: Merge | null,
  placeOf: (name: RecordName) => Place | undefined,
): readonly RecordFault[] {
  const { records, namedGps } = entry;
  if (entry.faults.length > 0) return entry.faults;
  const faults: RecordFault[] = [];
  for (let i = 0; i < records.length; i++) {
    const findPlace = (name: RecordName) =>
      placeOf(name) ?? (isAmong(records, name, i) ? entry : undefined);
    addFaults(faults, records[i]!, source, findPlace);
  }
  for (const gp of namedGps) addFaults(faults, gp, source, () => undefined);
  if (entry.deleted.length === 0) return faults;
  const placeInEntry = (name: RecordName) =>
    placeOf(name) ?? (isAmong(records, name) ? entry : undefined);
  faults.push(...removalFaults(entry, merge, placeInEntry));
  return faults;
}

/** Reports whether a record of this name is among the first `count`. */
function isAmong(
  records: readonly Drafted[],
  { record, id }: RecordName,
  count = records.length,
): boolean {
  for (let i = 0; i < count; i++)
    if (records[i]!.kind === record && records[i]!.sourceId === id) return true;
  return false;
}

/** @param findPlace returns the place of another record of this name; called only for a record without faults. */
function addFaults(
  faults: RecordFault[],
  drafted: Drafted,
  source: string,
  findPlace: (name: RecordName) => Place | undefined,
): void {
  if ("faults" in drafted) {
    faults.push(...drafted.faults);
    return;
  }
  const name = nameOf(drafted);
  faults.push(...repeatedFault(name, findPlace(name)));
  if (drafted.isForeign) faults.push(foreignSource(source));
}

const foreignSource = (source: string): RecordFault => ({
  field: "provenance.source",
  reason: `must be left out or be the name of the import, '${source}'`,
});
