/** A published dataset, and the step that led to it. */
import { type EachKind, eachOf, recordKinds } from "./kinds.ts";

/** Kinds of change to a record between two datasets. */
export const changeKinds = ["added", "changed", "removed", "merged"] as const;
export type ChangeKind = (typeof changeKinds)[number];

type StepCounts = EachKind<Record<ChangeKind, number>>;

/** Returns counts for every kind of record and change. A count that an older program left out is 0. */
export const allCounts = (noted: Partial<StepCounts>): StepCounts =>
  eachOf(recordKinds, (kind) => eachOf(changeKinds, (change) => noted[kind]?.[change] ?? 0));

/** Publication that made a dataset the current one. */
export interface Publication {
  version: string;
  /** Time in RFC 3339. */
  published_at: string;
  /** Version that was current before; null if there was none or it is unknown. */
  from: string | null;
  /** Hash of the dataset's records (docs/changes.md); null while no step begins or ends with the dataset. */
  hash: string | null;
  /** Numbers of changes since the version `from`; null if there is no step. */
  step: { changes: number; counts: StepCounts } | null;
}

/** Returns the publication with a count in its step for every kind of record and change. */
export const withAllStepCounts = ({ step, ...publication }: Publication): Publication => ({
  ...publication,
  step: step && { ...step, counts: allCounts(step.counts) },
});

/** A step kept in a file. */
export interface StoredStep {
  changes: number;
  /** Returns the byte range of up to `limit` changes, `end` exclusive. At offset 0, it begins with the file's head. */
  placeOf(offset: number, limit: number): { start: number; end: number };
}
