/** A published dataset, and the step that led to it. */
import { type EachKind, eachOf, recordKinds } from "./kinds.ts";

/** Changes of a record between two datasets. */
export const changeKinds = ["added", "changed", "removed", "merged"] as const;
export type ChangeKind = (typeof changeKinds)[number];

/** Numbers of changes by kind of record. */
type StepCounts = EachKind<Record<ChangeKind, number>>;

/** Returns counts of every kind, in their order. Counts that an older program did not note are 0. */
export const allCounts = (noted: Partial<StepCounts>): StepCounts =>
  eachOf(recordKinds, (kind) => eachOf(changeKinds, (change) => noted[kind]?.[change] ?? 0));

/** A publication: a dataset became the current one. */
export interface Publication {
  version: string;
  /** RFC 3339. */
  published_at: string;
  /** Version that was current before; null for the first publication known. */
  from: string | null;
  /** Hash of its records, see docs/changes.md; null while no step begins or ends there. */
  hash: string | null;
  /** Contents of the step from `from`; null if there is none. */
  step: { changes: number; counts: StepCounts } | null;
}

/** Returns a publication with counts of every kind. */
export const withAllStepCounts = ({ step, ...publication }: Publication): Publication => ({
  ...publication,
  step: step && { ...step, counts: allCounts(step.counts) },
});

/** A step kept in a file. */
export interface StoredStep {
  changes: number;
  /** Returns where some of its changes begin and end in the file, in bytes. The first comes with the head before it. */
  placeOf(offset: number, limit: number): { start: number; end: number };
}
