/** Tracks which records of a source exist and which links still wait for their target. */
import { eachOf, recordKinds, type RecordKind } from "#records/kinds.ts";
import type { RecordName } from "#records/source-entry.ts";
import type { StoredLinks } from "./draft-record.ts";

/** A link of a record to another of the same source. */
export interface Need {
  field: string;
  kind: RecordKind;
  id: string;
}

/** Returns the links of a record, which names GPs and projects by the source's own ids. */
export function needsOf({ gps, projects }: Omit<StoredLinks, "statedAt">): Need[] {
  const needs: Need[] = [];
  for (const id of gps) needs.push({ field: "gps", kind: "gp", id });
  for (const id of projects) needs.push({ field: "project_ids", kind: "project", id });
  return needs;
}

export const keyOf = (kind: RecordKind, id: string) => `${kind}\n${id}`;

/** The records of one place in a file, kept until all their targets are certain to stay. */
interface Delivery<Place> {
  place: Place;
  keys: readonly RecordName[];
  needs: readonly Need[];
  /** Ids of GPs that the place only names. They exist while a place names or links to them. */
  named: readonly string[];
}

export interface LinkLedger<Place> {
  /** Returns the place of the record with this id, if there is one. */
  placeOf(kind: RecordKind, id: string): Place | undefined;
  add(one: Delivery<Place>): void;
  /**
   * Drops records that link to a missing record, until nothing changes, and calls `reject` for each delivery.
   * @returns ids of named GPs that nothing refers to any more.
   */
  settle(reject: (delivery: Delivery<Place>, missing: Need) => void): string[];
}

/** @param isElsewhere reports whether a record exists that no place brought. */
export function openLinkLedger<Place>(
  isElsewhere: (kind: RecordKind, id: string) => boolean = () => false,
): LinkLedger<Place> {
  const places = eachOf(recordKinds, () => new Map<string, Place>());
  /** Deliveries that wait for a target, or for a target that waits itself. */
  const waiting = new Set<Delivery<Place>>();
  const waitingKeys = new Set<string>();
  /** Named GPs to which no delivery certain to stay refers. */
  const unheld = new Set<string>();
  const hold = ({ named, needs }: Delivery<Place>) => {
    if (unheld.size === 0) return;
    for (const id of named) unheld.delete(id);
    for (const need of needs) if (need.kind === "gp") unheld.delete(need.id);
  };
  const isSettled = ({ kind, id }: Need) =>
    (places[kind].has(id) && (waiting.size === 0 || !waitingKeys.has(keyOf(kind, id)))) ||
    isElsewhere(kind, id);
  const isMissing = ({ kind, id }: Need) => !places[kind].has(id) && !isElsewhere(kind, id);
  return {
    placeOf: (kind, id) => places[kind].get(id),
    add(one) {
      const { place, keys, needs, named } = one;
      for (const id of named) {
        if (places.gp.has(id)) continue;
        places.gp.set(id, place);
        unheld.add(id);
      }
      for (const { record, id } of keys) places[record].set(id, place);
      // Most files list GPs first, so hardly any delivery has to wait.
      if (needs.every(isSettled)) return hold(one);
      waiting.add(one);
      for (const { record, id } of keys) waitingKeys.add(keyOf(record, id));
    },
    settle(reject) {
      for (let hasChanged = true; hasChanged;) {
        hasChanged = false;
        for (const one of waiting) {
          const missing = one.needs.find(isMissing);
          if (missing === undefined) continue;
          for (const { record, id } of one.keys) places[record].delete(id);
          waiting.delete(one);
          reject(one, missing);
          hasChanged = true;
        }
      }
      for (const one of waiting) hold(one);
      return [...unheld];
    },
  };
}
