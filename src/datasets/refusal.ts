/** Decides whether what was collected of a source may take the place of what it had. */
import type { Collected } from "./collect.ts";
import { isTooMuch, type RejectedMax } from "./rejections.ts";

/**
 * - `rejections`: more lines were rejected than allowed
 * - `empty`: no record of the source is left
 * - `shrunk`: the source has lost more of its records than allowed
 */
export type Refusal = "rejections" | "empty" | "shrunk";

export interface Guards {
  rejectedMax: RejectedMax;
  /** The share of its former records, in per cent, that the source may lose; any if left out. */
  shrinkPercentMax?: number;
  /** Lets the source end up without any record. */
  allowsEmpty?: boolean;
}

/** How many records of the source there were, and are now. */
export interface SourceSize {
  before: number;
  now: number;
}

export function refusalOf(
  { read, rejections }: Collected,
  { before, now }: SourceSize,
  { rejectedMax, shrinkPercentMax = 100, allowsEmpty = false }: Guards,
): Refusal | null {
  if (isTooMuch(rejections.count, read, rejectedMax)) return "rejections";
  // A delivery of which nothing is left is a mistake, not the wish to remove the source.
  if (now === 0) return allowsEmpty && rejections.count === 0 ? null : "empty";
  return now * 100 < before * (100 - shrinkPercentMax) ? "shrunk" : null;
}
