/** Decides whether the collected records of a source may replace its former ones. */
import type { Collected } from "./collect.ts";
import { isTooMuch, type RejectedMax } from "./rejections.ts";

/**
 * Reason of a refusal:
 * - `rejections`: more lines were rejected than allowed
 * - `empty`: no record of the source is left
 * - `shrunk`: the source has lost more of its records than allowed
 */
export type Refusal = "rejections" | "empty" | "shrunk";

export interface Guards {
  rejectedMax: RejectedMax;
  /** Percentage of its former records that the source may lose; 100 if left out. */
  shrinkPercentMax?: number;
  /** May the source end up without any record? */
  allowsEmpty?: boolean;
}

/** Number of the source's records before and now. */
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
  // An empty delivery is a mistake, not a wish to remove the source.
  if (now === 0) return allowsEmpty && rejections.count === 0 ? null : "empty";
  return now * 100 < before * (100 - shrinkPercentMax) ? "shrunk" : null;
}
