/** What is known of a publication of a dataset, and of the step that leads to it. */
import type { RecordKind } from "./kinds.ts";

/** What may happen to a record between two datasets. */
export const changeKinds = ["added", "changed", "removed", "merged"] as const;
export type ChangeKind = (typeof changeKinds)[number];

/** A dataset became the current one. */
export interface Publication {
  version: string;
  /** RFC 3339. */
  published_at: string;
  /** The version that was current before; null for the first that is known of. */
  from: string | null;
  /** Hash of its records, docs/changes.md; null while no step begins or ends there. */
  hash: string | null;
  /** What the step from `from` has; null where there is none. */
  step: { changes: number; counts: Record<RecordKind, Record<ChangeKind, number>> } | null;
}

/** A step that is kept in a file. */
export interface StoredStep {
  changes: number;
  /**
   * The bytes of some of its changes, and of its head before the first one.
   * @returns where they begin and end in the file.
   */
  placeOf(offset: number, limit: number): { start: number; end: number };
}
