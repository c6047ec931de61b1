/** Says why a line of a delivery cannot be accepted: its records one by one, and beside what came before. */
import { checkRecord } from "#records/check.ts";
import type { CanonicalRecord } from "#records/canonical.ts";
import type { RecordFault, RecordName, SourceEntry } from "#records/source-entry.ts";
import type { Merge } from "./merge.ts";
import type { Place } from "./rejections.ts";
import { removalFaults, repeatedFault } from "./removals.ts";

/**
 * @param placeOf where the delivery has or removes a record already.
 * @returns empty where the line may be entered.
 */
export function faultsOfEntry(
  entry: SourceEntry,
  source: string,
  merge: Merge | null,
  placeOf: (name: RecordName) => Place | undefined,
): readonly RecordFault[] {
  const { records, namedGps } = entry;
  if (entry.faults.length > 0) return entry.faults;
  const faults: RecordFault[] = [];
  for (let i = 0; i < records.length; i++) {
    const record = records[i]!;
    const findPlace = () => placeOf(record) ?? (isAmong(records, record, i) ? entry : undefined);
    faults.push(...faultsOfRecord(record, source, findPlace));
  }
  for (const gp of namedGps) faults.push(...faultsOfRecord(gp, source, () => undefined));
  const placeInEntry = (name: RecordName) =>
    placeOf(name) ?? (isAmong(records, name) ? entry : undefined);
  faults.push(...removalFaults(entry, merge, placeInEntry));
  return faults;
}

/** Is a record of this name among the first so many? */
export function isAmong(
  records: readonly RecordName[],
  { record, id }: RecordName,
  count = records.length,
): boolean {
  for (let i = 0; i < count; i++)
    if (records[i]!.record === record && records[i]!.id === id) return true;
  return false;
}

/** @param findPlace of another record of the same name; asked for a record that has a name. */
function faultsOfRecord(
  record: CanonicalRecord,
  source: string,
  findPlace: () => Place | undefined,
): readonly RecordFault[] {
  const faults = checkRecord(record);
  if (faults.length > 0) return faults;
  const place = findPlace();
  const { provenance } = record;
  const isForeign = provenance?.source !== undefined && provenance.source !== source;
  if (place === undefined && !isForeign) return faults;
  return [...repeatedFault(record, place), ...(isForeign ? [foreignSource(source)] : [])];
}

const foreignSource = (source: string): RecordFault => ({
  field: "provenance.source",
  reason: `must be left out or be the name of the import, '${source}'`,
});
