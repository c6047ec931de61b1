/** Principals, signals and projects: which GP they belong to, their order, and what a GP holds of them. */
import type { CanonicalGp, CanonicalRecord } from "#records/canonical.ts";
import type { RecordKind } from "#records/kinds.ts";
import { fold } from "./fold.ts";
import { compareBytes, sortedBy } from "./order.ts";

export type LinkedRecord = Exclude<CanonicalRecord, CanonicalGp>;
/** The public id a record is served under. */
export type IdOf = (record: CanonicalRecord) => string;

/** What one GP holds inside itself: public ids, at most 100 of each, and how many there are. */
export interface ReferenceEmbedded {
  principals: string[];
  principals_total: number;
  signals: string[];
  signals_total: number;
}

export const embeddedMax = 100;

export function isLinked(record: LinkedRecord, gp: CanonicalGp): boolean {
  return (record.gps ?? []).includes(gp.id);
}

/** Records of one kind in display order: signals newest first, others by folded name; then by id. */
export function inOrder(records: readonly LinkedRecord[], idOf: IdOf): LinkedRecord[] {
  return sortedBy(records, (record) => [nameIn(record), idOf(record)]).sort((one, other) =>
    compareBytes(dateIn(other), dateIn(one)),
  );
}

function nameIn(record: LinkedRecord): string {
  return record.record === "signal" ? "" : fold(record.name);
}

function dateIn(record: LinkedRecord): string {
  return record.record === "signal" ? record.date : "";
}

/** @param linked every principal, signal and project there is. */
export function embeddedIn(
  gp: CanonicalGp,
  linked: readonly LinkedRecord[],
  idOf: IdOf,
): ReferenceEmbedded {
  const idsOf = (kind: RecordKind) => {
    const own = linked.filter((record) => record.record === kind && isLinked(record, gp));
    return inOrder(own, idOf).map(idOf);
  };
  const principals = idsOf("principal");
  const signals = idsOf("signal");
  return {
    principals: principals.slice(0, embeddedMax),
    principals_total: principals.length,
    signals: signals.slice(0, embeddedMax),
    signals_total: signals.length,
  };
}
