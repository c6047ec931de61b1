/** Merges a delivery into the records of its source: records that it names are replaced or removed, all others stay. */
import { namedGpPrefix, type RecordName } from "#records/source-entry.ts";
import { keyOf, type Need } from "./links.ts";
import type { Place } from "./rejections.ts";

/** A record with its links, all by the source's own ids. */
export interface LinkedRecord extends RecordName {
  needs: readonly Need[];
}

/** A refused removal: records that stay link to its record. */
export interface Blocked {
  place: Place;
  name: RecordName;
  linkers: readonly RecordName[];
}

interface MergeOutcome {
  /** Keys of records that are to go. */
  gone: ReadonlySet<string>;
  /** Removals of records that do not exist. */
  absent: readonly { place: Place; name: RecordName }[];
  blocked: readonly Blocked[];
}

export interface Merge {
  /** Reports whether the source has this record already. */
  has(key: string): boolean;
  /** Returns the place where the delivery removes the record with this key, if it does. */
  removalOf(key: string): Place | undefined;
  deliver(place: Place, record: LinkedRecord): void;
  remove(place: Place, name: RecordName): void;
  /** Forgets delivered records that are rejected after all. */
  forget(records: readonly RecordName[]): void;
  /** Returns the outcome. Call it when it is certain which records are accepted. */
  outcome(): MergeOutcome;
}

/** @param former all records that the source has. */
export function openMerge(former: readonly LinkedRecord[]): Merge {
  const formerKeys = new Set(former.map(keyOfName));
  const delivered = new Map<string, LinkedRecord & { place: Place }>();
  const removals = new Map<string, { place: Place; name: RecordName }>();
  return {
    has: (key) => formerKeys.has(key),
    removalOf: (key) => removals.get(key)?.place,
    deliver: (place, record) => void delivered.set(keyOfName(record), { ...record, place }),
    remove: (place, name) => void removals.set(keyOfName(name), { place, name }),
    forget(records) {
      for (const record of records) delivered.delete(keyOfName(record));
    },
    outcome() {
      const staying = [
        ...former.filter((one) => !delivered.has(keyOfName(one))),
        ...delivered.values(),
      ];
      const named = former.filter(isNamed).map(keyOfName);
      const linkers = linkersOf(staying, new Set([...removals.keys(), ...named]));
      const gone = new Set<string>();
      const left = (key: string) =>
        (linkers.get(key) ?? []).filter((one) => !gone.has(keyOfName(one)));
      const asked = [...removals].filter(([key]) => formerKeys.has(key));
      // A removal may depend on a later one: a signal may name a project, and either a GP.
      for (let goneBefore = -1; gone.size > goneBefore;) {
        goneBefore = gone.size;
        for (const [key] of asked) if (left(key).length === 0) gone.add(key);
      }
      const blocked = asked
        .filter(([key]) => !gone.has(key))
        .map(([key, { place, name }]): Blocked => ({ place, name, linkers: left(key) }));
      // A GP that rows only name goes with the last link to it, as when a source is replaced.
      const linkedBefore = linkersOf(former, new Set(named));
      for (const key of named)
        if (!delivered.has(key) && linkedBefore.has(key) && left(key).length === 0) gone.add(key);
      const absent = [...removals].filter(([key]) => !formerKeys.has(key)).map(([, one]) => one);
      return { gone, absent, blocked };
    },
  };
}

const keyOfName = ({ record, id }: RecordName) => keyOf(record, id);

const isNamed = ({ record, id }: RecordName) => record === "gp" && id.startsWith(namedGpPrefix);

/** Returns the records that link to the wanted ones. */
function linkersOf(
  records: readonly LinkedRecord[],
  wanted: ReadonlySet<string>,
): ReadonlyMap<string, readonly RecordName[]> {
  const linkers = new Map<string, RecordName[]>();
  if (wanted.size === 0) return linkers;
  for (const record of records)
    for (const need of record.needs) {
      const key = keyOf(need.kind, need.id);
      if (!wanted.has(key)) continue;
      const known = linkers.get(key);
      if (known === undefined) linkers.set(key, [record]);
      else known.push(record);
    }
  return linkers;
}
