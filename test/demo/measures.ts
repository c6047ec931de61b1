/** How often and how much, for tests of what is made by chance. */

/** How often each value comes up. */
export function tally<T>(values: Iterable<T>): Map<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** The part of a list, from 0 to 1, for which something is true. */
export const share = <T>(list: readonly T[], isSo: (value: T) => boolean): number =>
  list.filter(isSo).length / list.length;

export function assertBetween(value: number, low: number, high: number): void {
  if (!(value >= low && value <= high))
    throw new Error(`${value} is not between ${low} and ${high}`);
}
