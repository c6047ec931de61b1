/** Quantiles, and the median of a few figures with bounds that say how well it is known. */

/** @param share 0.5 is the median, 0.99 what one in a hundred exceeds; NaN for no figures. */
export function quantile(figures: Iterable<number>, share: number): number {
  const sorted = Float64Array.from(figures).sort();
  const at = Math.max(0, Math.ceil(sorted.length * share) - 1);
  return sorted[at] ?? Number.NaN;
}

/** The mean of the two in the middle where their number is even. */
export function median(figures: Iterable<number>): number {
  const sorted = Float64Array.from(figures).sort();
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle]!;
  return (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** A median, and its 95 % confidence interval. */
export interface Estimate {
  value: number;
  /** -Infinity where there are too few figures for an interval. */
  low: number;
  high: number;
  count: number;
}

/** The chance of all of fewer figures lying on one side of the true median is more than 5 %. */
export const figuresForInterval = 6;

const confidence = 0.95;

/**
 * The interval runs between two of the figures, which assumes nothing of how they are distributed: the true median is
 * below the k-th smallest only if fewer than k of n figures fell below it, as likely as fewer than k heads in n coin tosses.
 */
export function estimate(figures: readonly number[]): Estimate {
  const sorted = figures.toSorted((a, b) => a - b);
  const count = sorted.length;
  const value = median(sorted);
  if (count < figuresForInterval) return { value, low: -Infinity, high: Infinity, count };
  const rank = intervalRank(count);
  return { value, low: sorted[rank - 1]!, high: sorted[count - rank]!, count };
}

/** The largest k for which fewer than k heads in `count` tosses are rarer than half of what confidence leaves. */
function intervalRank(count: number): number {
  let chance = 0.5 ** count;
  let below = 0;
  for (let heads = 0; ; heads++) {
    below += chance;
    if (below > (1 - confidence) / 2) return heads;
    chance *= (count - heads) / (heads + 1);
  }
}

/** Half the width of the interval as a share of the value, the "±" of a row; Infinity where there is none. */
export const uncertainty = ({ value, low, high }: Estimate): number =>
  (high - low) / 2 / Math.abs(value);

/** A median is known well enough where it is known to within this. */
export const uncertaintyMax = 0.05;
