/** What is done to figures: rounds of all candidates in turn, so that noise meets them alike, and medians. */

/** One thing to measure; each run gives one figure, or several. */
export interface Candidate<T> {
  name: string;
  /** @param round from 0. */
  run(round: number): T | Promise<T>;
}

/** Runs A B C A B C …; the figures of each candidate in the order of the rounds. */
export async function inTurn<T>(
  rounds: number,
  candidates: readonly Candidate<T>[],
): Promise<Map<string, T[]>> {
  const figures = new Map<string, T[]>(candidates.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const { name, run } of candidates) figures.get(name)!.push(await run(round));
  return figures;
}

/** @param share 0.5 is the median, 0.99 what one in a hundred exceeds; NaN for no figures. */
export function quantile(figures: Iterable<number>, share: number): number {
  const sorted = Float64Array.from(figures).sort();
  const at = Math.max(0, Math.ceil(sorted.length * share) - 1);
  return sorted[at] ?? Number.NaN;
}

export const median = (figures: Iterable<number>): number => quantile(figures, 0.5);

/** Half the distance of the quartiles, as a share of the median: how far apart the rounds are. */
export function spread(figures: readonly number[]): number {
  return (quantile(figures, 0.75) - quantile(figures, 0.25)) / 2 / median(figures);
}
