/** Keeps account of which records exist in the source and which links still wait for their target. */
import type { CanonicalRecord, RecordKind } from "#records/canonical.ts";

/** A link of a record to another of the same source. */
export interface Need {
  field: string;
  kind: RecordKind;
  id: string;
}

export const keyOf = (kind: RecordKind, id: string) => `${kind}\n${id}`;

export function partsOfKey(key: string): [kind: string, id: string] {
  const end = key.indexOf("\n");
  return [key.slice(0, end), key.slice(end + 1)];
}

export function needsOf(record: CanonicalRecord): Need[] {
  if (record.record === "gp") return [];
  const needs: Need[] = (record.gps ?? []).map((id) => ({ field: "gps", kind: "gp", id }));
  if (record.record === "signal")
    for (const id of record.project_ids ?? [])
      needs.push({ field: "project_ids", kind: "project", id });
  return needs;
}

/** Records of one place of a file, kept until all they link to is known to stay. */
export interface Waiting<Place> {
  place: Place;
  keys: readonly string[];
  needs: readonly Need[];
  /** Keys of GPs the place only names: they are there as long as a place that names them or links to them. */
  named: readonly string[];
}

export interface LinkLedger<Place> {
  /** Place of the record with this key, if there is one. */
  placeOf(key: string): Place | undefined;
  add(one: Waiting<Place>): void;
  /**
   * Drops, until nothing changes, whatever links to a record that is not there; calls `reject` for each.
   * @returns keys of named GPs that nothing is left of.
   */
  settle(reject: (waiting: Waiting<Place>, missing: Need) => void): string[];
}

export function openLinkLedger<Place>(): LinkLedger<Place> {
  const placeOf = new Map<string, Place>();
  const waiting = new Map<string, Waiting<Place>>();
  const named = new Set<string>();
  /** How many places name a record or link to it. */
  const holders = new Map<string, number>();
  const hold = (one: Waiting<Place>, count: 1 | -1) => {
    const keys = [...one.named, ...one.needs.map(({ kind, id }) => keyOf(kind, id))];
    for (const key of new Set(keys)) holders.set(key, (holders.get(key) ?? 0) + count);
  };
  const isSettled = (need: Need) => {
    const key = keyOf(need.kind, need.id);
    return placeOf.has(key) && !waiting.has(key);
  };
  return {
    placeOf: (key) => placeOf.get(key),
    add(one) {
      for (const key of one.named) {
        if (placeOf.has(key)) continue;
        placeOf.set(key, one.place);
        named.add(key);
      }
      hold(one, 1);
      for (const key of one.keys) {
        placeOf.set(key, one.place);
        // Most files name GPs first, so that next to nothing has to wait.
        if (!one.needs.every(isSettled)) waiting.set(key, one);
      }
    },
    settle(reject) {
      for (let hasChanged = true; hasChanged;) {
        hasChanged = false;
        for (const one of new Set(waiting.values())) {
          const missing = one.needs.find((need) => !placeOf.has(keyOf(need.kind, need.id)));
          if (missing === undefined) continue;
          for (const key of one.keys) {
            placeOf.delete(key);
            waiting.delete(key);
          }
          hold(one, -1);
          reject(one, missing);
          hasChanged = true;
        }
      }
      return [...named].filter((key) => holders.get(key) === 0);
    },
  };
}
